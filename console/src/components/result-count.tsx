import { Text } from '@mantine/core';
import type { PagedList } from '../queries/paged-list.ts';
import { commonMessages } from './messages.ts';

/** Shows the total of a list, or a lower bound until it is known. */
export function ResultCount({
  list,
}: {
  list: Pick<PagedList<unknown>, 'isPending' | 'isCounted' | 'loadedCount' | 'total'>;
}) {
  const { found, moreThan } = commonMessages.list;
  return (
    <Text size="sm" c="dimmed" aria-live="polite">
      {list.isPending ? 'Loading' : list.isCounted ? found(list.total) : moreThan(list.loadedCount)}
    </Text>
  );
}
