import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import {
  type MemberRef,
  type GroupRole,
  groupRoleLabel,
  useUpdateMembers,
} from '../../queries/group-members.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText, notify, notifyError } from '../../components/notifications.tsx';
import { BatchResultDialog } from '../../components/batch-result-dialog.tsx';
import { pluralizePeople } from '../../components/pluralize.ts';

type Member = MemberRef & { role: GroupRole };

/** What becomes of members who are chosen. */
export type MemberUpdate =
  | { kind: 'remove'; people: readonly Member[] }
  | { kind: 'role'; role: GroupRole; people: readonly Member[] };

interface BulkMemberDialogProps {
  id: number;
  update: MemberUpdate;
  onDone: () => void;
  onClose: () => void;
}

/** Asks whether members are removed or get another role, and shows what became of each (operations 13 and 47). */
export function BulkMemberDialog({ id, update, onDone, onClose }: BulkMemberDialogProps) {
  const { add, remove } = useUpdateMembers(id);
  const { kind, people } = update;
  const run = useMutation({
    mutationFn: () =>
      update.kind === 'remove'
        ? remove(people)
        : add(people.map((person) => ({ ...person, role: update.role }))),
    onSuccess(outcomes) {
      onDone();
      const changed = people.filter((_person, at) => outcomes[at]?.status === 'done');
      if (changed.length > 0)
        notify(`${pluralizePeople(changed.length)} ${kind === 'remove' ? 'removed' : 'changed'}.`, {
          undo: () => void undo(changed),
        });
    },
  });
  /** Those who were removed, and those whose role changed, get the role that they had. */
  const undo = async (changed: readonly Member[]) => {
    onClose();
    try {
      const outcomes = await add(changed);
      const refused = outcomes.filter(({ status }) => status === 'refused');
      if (refused.length === 0) notify('Set back.');
      else
        notifyError(
          `${pluralizePeople(refused.length)} could not be set back`,
          new Error(refused.map(({ name, reason }) => `${name}: ${reason}`).join(' ')),
        );
    } catch (error) {
      notifyError('It could not be undone', error);
    }
  };
  const title = kind === 'remove' ? 'Remove from the group' : `Make them ${groupRoleLabel(update.role)}`;
  if (run.data !== undefined)
    return (
      <BatchResultDialog
        title={title}
        onClose={onClose}
        itemLabel="Person"
        results={run.data}
        doneLabel={kind === 'remove' ? 'Removed' : 'Changed'}
        alreadyLabel={kind === 'remove' ? 'Not a member any more' : 'Had the role'}
      />
    );
  return (
    <FormDialog
      title={title}
      submitLabel={
        kind === 'remove'
          ? `Remove ${pluralizePeople(people.length)}`
          : `Change ${pluralizePeople(people.length)}`
      }
      isDestructive={kind === 'remove'}
      isPending={run.isPending}
      error={run.error === null ? undefined : errorText(run.error)}
      onSubmit={() => run.mutate()}
      onClose={onClose}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {people
          .slice(0, 5)
          .map(({ name }) => name)
          .join(', ')}
        {people.length > 5 && ` and ${(people.length - 5).toLocaleString()} more`}
        {kind === 'remove'
          ? ' lose what their role in the group lets them do. Access to assessments stays.'
          : ` become ${groupRoleLabel(update.role)}.`}
      </Text>
    </FormDialog>
  );
}
