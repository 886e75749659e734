import { Select, Text, Textarea } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  type MemberRef,
  type GroupRole,
  groupRoleLabel,
  GROUP_ROLES,
  useUpdateMembers,
} from '../../queries/group-members.ts';
import { findPeople, findPersonByEmail } from '../../queries/people.ts';
import { SelectedPills } from '../../components/selected-pills.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText, notify } from '../../components/notifications.tsx';
import { type BatchItemResult, BatchResultDialog } from '../../components/batch-result-dialog.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { currentUser } from '../../session/current-user.ts';
import { pluralize, pluralizePeople } from '../../components/pluralize.ts';

interface AddMembersProps {
  id: number;
  organization: string;
  onClose: () => void;
}

/** Addresses that are looked up at the same time. */
const LOOKUP_CONCURRENCY = 4;

/** Makes many people members at once: found one by one, or pasted as a list of addresses; each has a result (operation 47). */
export function AddMembersDialog({ id, organization, onClose }: AddMembersProps) {
  const { data: who } = useQuery(currentUser);
  const [role, setRole] = useState<GroupRole>('assessment_member');
  const [found, setFound] = useState<readonly MemberRef[]>([]);
  const [text, setText] = useState('');
  const { add } = useUpdateMembers(id);
  const addresses = parseAddresses(text);
  // Staff reach several organizations, of which the group is in one; others have one.
  const within = who?.staff === true ? organization : undefined;
  const run = useMutation({
    async mutationFn(): Promise<BatchItemResult[]> {
      const looked = await findMembers(addresses, within);
      const people = new Map([...found, ...looked.people].map((person) => [person.userUid, person]));
      const outcomes = await add([...people.values()].map((person) => ({ ...person, role })));
      return [...outcomes, ...looked.unknown];
    },
    onSuccess(outcomes) {
      const added = outcomes.filter(({ status }) => status === 'done').length;
      notify(`${pluralizePeople(added)} added.`);
    },
  });
  if (run.data !== undefined)
    return (
      <BatchResultDialog
        title="Add people"
        onClose={onClose}
        itemLabel="Person"
        results={run.data}
        doneLabel="Added"
        alreadyLabel="Already there"
      />
    );
  const total = found.length + addresses.length;
  return (
    <FormDialog
      title="Add people"
      submitLabel={`Add ${pluralizePeople(total)}`}
      size="lg"
      isPending={run.isPending}
      isDisabled={total === 0}
      error={run.error === null ? undefined : errorText(run.error)}
      onSubmit={() => run.mutate()}
      onClose={onClose}
    >
      <AsyncSelect
        autoFocus
        label="Person"
        placeholder="Name or address"
        optionsKey={['people-uids', within ?? '']}
        loadOptions={async (search, signal) =>
          (await findPeople(search, signal, within)).map(({ uid, name, email }) => ({
            value: uid,
            label: name === null || name === undefined ? email : `${name} (${email})`,
          }))
        }
        value={null}
        clearsOnSelect
        onChange={(person) => {
          if (person === null || found.some(({ userUid }) => userUid === person.value)) return;
          setFound([...found, { userUid: person.value, name: person.label }]);
        }}
      />
      <SelectedPills
        label="People to add"
        selected={found.map(({ userUid, name }) => ({ value: userUid, label: name }))}
        onRemove={(value) => setFound(found.filter(({ userUid }) => userUid !== value))}
      />
      <Textarea
        label="Addresses"
        description="Paste a list: one a line, or with commas, or from a mail program"
        autosize
        minRows={3}
        maxRows={10}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {addresses.length > 0 && (
        <Text size="xs" c="dimmed" aria-live="polite">
          {pluralize(addresses.length, 'address', 'addresses')} found in it.
        </Text>
      )}
      <Select
        label="Role"
        data={GROUP_ROLES.map(({ value, label }) => ({ value, label }))}
        allowDeselect={false}
        description={`${groupRoleLabel(role)}: ${GROUP_ROLES.find(({ value }) => value === role)?.description ?? ''} Who has another role gets this one.`}
        value={role}
        onChange={(value) => value !== null && setRole(value as GroupRole)}
      />
    </FormDialog>
  );
}

/** @returns the addresses in a text that was pasted, each once: of lines, lists with commas, `Name <address>` */
function parseAddresses(text: string): string[] {
  const found = text.match(/[^\s<>,;"()]+@[^\s<>,;"()]+/g) ?? [];
  return [...new Map(found.map((address) => [address.toLowerCase(), address])).values()];
}

/** Finds out who has these addresses. */
async function findMembers(addresses: readonly string[], organization: string | undefined) {
  const people: MemberRef[] = [];
  const unknown: BatchItemResult[] = [];
  const { signal } = new AbortController();
  for (let from = 0; from < addresses.length; from += LOOKUP_CONCURRENCY) {
    const some = addresses.slice(from, from + LOOKUP_CONCURRENCY);
    const found = await Promise.all(some.map((address) => findPersonByEmail(address, signal, organization)));
    for (const [at, person] of found.entries()) {
      const name = some[at] ?? '';
      if (person === undefined)
        unknown.push({ name, status: 'refused', reason: 'Nobody here has this address. Invite them first.' });
      else people.push({ userUid: person.uid, name });
    }
  }
  return { people, unknown };
}
