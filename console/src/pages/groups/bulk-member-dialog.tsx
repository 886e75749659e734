import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { GroupRole } from '../../queries/enums.ts';
import { type MemberRef, GROUP_ROLE_LABELS, useUpdateMembers } from '../../queries/groups.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText, notify, notifyError } from '../../components/notifications.ts';
import { BatchResultDialog } from '../../components/batch-result-dialog.tsx';
import { groupMessages } from './messages.ts';
import { commonMessages } from '../../components/messages.ts';

type Member = MemberRef & { role: GroupRole };

export type MemberUpdate =
  | { kind: 'remove'; people: readonly Member[] }
  | { kind: 'role'; role: GroupRole; people: readonly Member[] };

interface BulkMemberDialogProps {
  id: number;
  update: MemberUpdate;
  /** Who may only remove members cannot add them again. */
  canUndo: boolean;
  onDone: () => void;
  onClose: () => void;
}

const messages = groupMessages.bulk;

/** Removes members or changes their role after a confirmation, with a result for each (operations 13 and 47). */
export function BulkMemberDialog({ id, update, canUndo, onDone, onClose }: BulkMemberDialogProps) {
  const { add, remove } = useUpdateMembers(id);
  const { kind, people } = update;
  const run = useMutation({
    mutationFn: () =>
      update.kind === 'remove'
        ? remove(people)
        : add(people.map((person) => ({ ...person, role: update.role }))),
    onSuccess(results) {
      onDone();
      const changed = people.filter((_person, index) => results[index]?.status === 'done');
      if (changed.length > 0)
        notify(
          (kind === 'remove' ? messages.removed : messages.changed)(changed.length),
          canUndo ? { undo: () => void undo(changed) } : {},
        );
    },
  });
  /** Restores the previous role of removed and changed members. */
  const undo = async (changed: readonly Member[]) => {
    onClose();
    try {
      const results = await add(changed);
      const failed = results.filter(({ status }) => status === 'failed');
      if (failed.length === 0) notify(commonMessages.undone);
      else
        notifyError(
          messages.undoFailed(failed.length),
          new Error(failed.map(({ name, reason }) => `${name}: ${reason}`).join(' ')),
        );
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
  };
  const title = kind === 'remove' ? messages.remove : messages.setRole(GROUP_ROLE_LABELS[update.role]);
  if (run.data !== undefined)
    return (
      <BatchResultDialog
        title={title}
        onClose={onClose}
        itemLabel="Person"
        results={run.data}
        doneLabel={kind === 'remove' ? 'Removed' : 'Changed'}
        unchangedLabel={kind === 'remove' ? messages.removedAlready : messages.hadRole}
      />
    );
  return (
    <FormDialog
      title={title}
      submitLabel={(kind === 'remove' ? messages.submitRemove : messages.submitRole)(people.length)}
      isDestructive={kind === 'remove'}
      isPending={run.isPending}
      error={errorText(run.error)}
      onSubmit={() => run.mutate()}
      onClose={onClose}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {people
          .slice(0, 5)
          .map(({ name }) => name)
          .join(', ')}
        {people.length > 5 && ` ${commonMessages.andMore(people.length - 5)}`}
      </Text>
      {kind === 'remove' && <Text size="sm">{messages.removeWarning}</Text>}
    </FormDialog>
  );
}
