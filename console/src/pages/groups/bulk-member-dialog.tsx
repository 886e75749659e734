import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type BatchPerson, type GroupRole, roleName, useMemberBatches } from '../../queries/group-members.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText, tell, tellError } from '../../components/notifications.tsx';
import { OutcomesDialog } from '../../components/batch-result-dialog.tsx';
import { peopleText } from '../../components/pluralize.ts';

type Member = BatchPerson & { role: GroupRole };

/** What becomes of members who are chosen. */
export type Wanted =
  | { kind: 'remove'; people: readonly Member[] }
  | { kind: 'role'; role: GroupRole; people: readonly Member[] };

interface MemberBatchProps {
  id: number;
  wanted: Wanted;
  onDone: () => void;
  onClose: () => void;
}

/** Asks whether members are removed or get another role, and shows what became of each (operations 13 and 47). */
export function MemberBatch({ id, wanted, onDone, onClose }: MemberBatchProps) {
  const { add, remove } = useMemberBatches(id);
  const { kind, people } = wanted;
  const run = useMutation({
    mutationFn: () =>
      wanted.kind === 'remove'
        ? remove(people)
        : add(people.map((person) => ({ ...person, role: wanted.role }))),
    onSuccess(outcomes) {
      onDone();
      const changed = people.filter((_person, at) => outcomes[at]?.outcome === 'done');
      if (changed.length > 0)
        tell(`${peopleText(changed.length)} ${kind === 'remove' ? 'removed' : 'changed'}.`, {
          undo: () => void undo(changed),
        });
    },
  });
  /** Those who were removed, and those whose role changed, get the role that they had. */
  const undo = async (changed: readonly Member[]) => {
    onClose();
    try {
      const outcomes = await add(changed);
      const refused = outcomes.filter(({ outcome }) => outcome === 'refused');
      if (refused.length === 0) tell('Set back.');
      else
        tellError(
          `${peopleText(refused.length)} could not be set back`,
          new Error(refused.map(({ name, why }) => `${name}: ${why}`).join(' ')),
        );
    } catch (error) {
      tellError('It could not be undone', error);
    }
  };
  const title = kind === 'remove' ? 'Remove from the group' : `Make them ${roleName(wanted.role)}`;
  if (run.data !== undefined)
    return (
      <OutcomesDialog
        title={title}
        onClose={onClose}
        noun="Person"
        outcomes={run.data}
        done={kind === 'remove' ? 'Removed' : 'Changed'}
        already={kind === 'remove' ? 'Not a member any more' : 'Had the role'}
      />
    );
  return (
    <FormDialog
      title={title}
      save={kind === 'remove' ? `Remove ${peopleText(people.length)}` : `Change ${peopleText(people.length)}`}
      grave={kind === 'remove'}
      busy={run.isPending}
      error={run.error === null ? undefined : errorText(run.error)}
      onSave={() => run.mutate()}
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
          : ` become ${roleName(wanted.role)}.`}
      </Text>
    </FormDialog>
  );
}
