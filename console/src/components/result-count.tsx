import { Text } from '@mantine/core';
import type { PagedList } from '../queries/paged-list.ts';

/** How many rows a list has; at least, as long as they are not counted. */
export function ResultCount({
  list,
}: {
  list: Pick<PagedList<unknown>, 'isPending' | 'isCounted' | 'loadedCount' | 'total'>;
}) {
  const total = list.isCounted
    ? list.total.toLocaleString()
    : `More than ${list.loadedCount.toLocaleString()}`;
  return (
    <Text size="sm" c="dimmed" aria-live="polite">
      {list.isPending ? 'Reading' : `${total} found`}
    </Text>
  );
}
