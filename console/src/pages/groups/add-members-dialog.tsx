import { Select, Textarea } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { GroupRole } from '../../queries/enums.ts';
import {
  type MemberRef,
  GROUP_ROLE_DESCRIPTIONS,
  GROUP_ROLE_LABELS,
  useUpdateMembers,
} from '../../queries/groups.ts';
import { findPeople, findPersonByEmail, personLabel } from '../../queries/people.ts';
import { assignableRoles } from './assignable-roles.ts';
import { SelectedPills } from '../../components/selected-pills.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText, notify } from '../../components/notifications.ts';
import { type BatchItemResult, BatchResultDialog } from '../../components/batch-result-dialog.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import { groupMessages } from './messages.ts';

interface AddMembersProps {
  id: number;
  organizationUid: string;
  onClose: () => void;
}

const LOOKUP_CONCURRENCY = 4;

const messages = groupMessages.add;

/**
 * Adds people to a group, selected one by one or pasted as a list of addresses, with a result for each (operation 47).
 */
export function AddMembersDialog({ id, organizationUid, onClose }: AddMembersProps) {
  const { data: user } = useQuery(currentUserQuery);
  const [role, setRole] = useState<GroupRole>('assessment_member');
  const [members, setMembers] = useState<readonly MemberRef[]>([]);
  const [text, setText] = useState('');
  const { add } = useUpdateMembers(id);
  const addresses = parseAddresses(text);
  // Only staff see several organizations.
  const organizationFilter = user?.staff === true ? organizationUid : undefined;
  const run = useMutation({
    async mutationFn(): Promise<BatchItemResult[]> {
      const lookup = await findMembers(addresses, organizationFilter);
      const people = new Map([...members, ...lookup.people].map((person) => [person.userUid, person]));
      const results = await add([...people.values()].map((person) => ({ ...person, role })));
      return [...results, ...lookup.unknown];
    },
    onSuccess(results) {
      const added = results.filter(({ status }) => status === 'done').length;
      notify(messages.added(added));
    },
  });
  if (run.data !== undefined)
    return (
      <BatchResultDialog
        title={groupMessages.members.add}
        onClose={onClose}
        itemLabel="Person"
        results={run.data}
        doneLabel="Added"
        unchangedLabel={messages.alreadyMember}
      />
    );
  const total = members.length + addresses.length;
  return (
    <FormDialog
      title={groupMessages.members.add}
      submitLabel={messages.submit(total)}
      size="lg"
      isPending={run.isPending}
      isDisabled={total === 0}
      error={errorText(run.error)}
      onSubmit={() => run.mutate()}
      onClose={onClose}
    >
      <AsyncSelect
        autoFocus
        label={messages.person}
        placeholder={messages.nameOrAddress}
        optionsKey={['people-uids', organizationFilter ?? '']}
        loadOptions={async (search, signal) =>
          (await findPeople(search, signal, organizationFilter)).map((person) => ({
            value: person.uid,
            label: personLabel(person),
          }))
        }
        value={null}
        clearsOnSelect
        onChange={(person) => {
          if (person === null || members.some(({ userUid }) => userUid === person.value)) return;
          setMembers([...members, { userUid: person.value, name: person.label }]);
        }}
      />
      <SelectedPills
        label={messages.people}
        selected={members.map(({ userUid, name }) => ({ value: userUid, label: name }))}
        onRemove={(value) => setMembers(members.filter(({ userUid }) => userUid !== value))}
      />
      <Textarea
        label={messages.addresses}
        description={messages.addressesHint}
        autosize
        minRows={3}
        maxRows={10}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {addresses.length > 0 && (
        <DimmedText size="xs" aria-live="polite">
          {messages.addressesFound(addresses.length)}
        </DimmedText>
      )}
      <Select
        label="Role"
        data={assignableRoles(user?.admin === true)}
        allowDeselect={false}
        description={messages.roleHint(GROUP_ROLE_LABELS[role], GROUP_ROLE_DESCRIPTIONS[role])}
        value={role}
        onChange={(value) => value !== null && setRole(value as GroupRole)}
      />
    </FormDialog>
  );
}

/** Extracts the distinct addresses from lines, comma-separated lists and `Name <address>`. */
function parseAddresses(text: string): string[] {
  const addresses = text.split(/[\s<>,;"()]/).filter((word) => word.slice(1, -1).includes('@'));
  return [...new Map(addresses.map((address) => [address.toLowerCase(), address])).values()];
}

/** Looks up the users with these addresses. */
async function findMembers(addresses: readonly string[], organizationUid: string | undefined) {
  const people: MemberRef[] = [];
  const unknown: BatchItemResult[] = [];
  const { signal } = new AbortController();
  for (let from = 0; from < addresses.length; from += LOOKUP_CONCURRENCY) {
    const batch = addresses.slice(from, from + LOOKUP_CONCURRENCY);
    const peopleByAddress = await Promise.all(
      batch.map((address) => findPersonByEmail(address, signal, organizationUid)),
    );
    for (const [index, person] of peopleByAddress.entries()) {
      const name = batch[index] ?? '';
      if (person === undefined) unknown.push({ name, status: 'failed', reason: messages.unknownAddress });
      else people.push({ userUid: person.uid, name });
    }
  }
  return { people, unknown };
}
