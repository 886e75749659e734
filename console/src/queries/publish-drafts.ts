import { useMutation, useQueryClient } from '@tanstack/react-query';
import { notify } from '../components/notifications.ts';
import { type BulkUpdateRequest, refreshAllButLists, sendBulkUpdate } from './bulk-update.ts';
import { queryMessages } from './messages.ts';
import { VULNERABILITIES_KEY } from './vulnerabilities.ts';

/** Publishes drafts (operation 30), which cannot be undone. The caller shows errors. */
export function usePublishDrafts() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Omit<BulkUpdateRequest, 'set' | 'label'>) =>
      sendBulkUpdate({ ...change, set: { draft: false }, label: '' }),
    onSuccess: ({ changed }) => notify(queryMessages.vulnerability.published(changed)),
    onSettled() {
      // Their dates change with it, and so their place in lists.
      void client.resetQueries({ queryKey: VULNERABILITIES_KEY });
      refreshAllButLists(client);
    },
  });
}
