import { Text } from '@mantine/core';
import type { List } from '../queries/paged-list.ts';

/** How many rows a list has; at least, as long as they are not counted. */
export function Found({
  list,
}: {
  list: Pick<List<unknown>, 'isPending' | 'isCounted' | 'loaded' | 'total'>;
}) {
  const total = list.isCounted ? list.total.toLocaleString() : `More than ${list.loaded.toLocaleString()}`;
  return (
    <Text size="sm" c="dimmed" aria-live="polite">
      {list.isPending ? 'Reading' : `${total} found`}
    </Text>
  );
}
