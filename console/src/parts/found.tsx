import { Text } from '@mantine/core';
import type { List } from '../api/list.ts';

/** How many rows a list has. */
export function Found({ list }: { list: Pick<List<unknown>, 'isPending' | 'total'> }) {
  return (
    <Text size="sm" c="dimmed" aria-live="polite">
      {list.isPending ? 'Reading' : `${list.total.toLocaleString()} found`}
    </Text>
  );
}
