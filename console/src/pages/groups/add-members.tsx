import { Select, Text, Textarea } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  type BatchPerson,
  type GroupRole,
  roleName,
  ROLES,
  useMemberBatches,
} from '../../queries/group-members.ts';
import { findPeople, personByAddress } from '../../queries/people.ts';
import { ChosenPills } from '../../components/selected-pills.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText, tell } from '../../components/notifications.tsx';
import { type Outcome, OutcomesDialog } from '../../components/batch-result-dialog.tsx';
import { SearchedSelect } from '../../components/async-select.tsx';
import { whoAmI } from '../../session/current-user.ts';
import { counted, peopleText } from '../../components/pluralize.ts';

interface AddMembersProps {
  id: number;
  organization: string;
  onClose: () => void;
}

/** Addresses that are looked up at the same time. */
const AT_ONCE = 4;

/** Makes many people members at once: found one by one, or pasted as a list of addresses; each has a result (operation 47). */
export function AddMembers({ id, organization, onClose }: AddMembersProps) {
  const { data: who } = useQuery(whoAmI);
  const [role, setRole] = useState<GroupRole>('assessment_member');
  const [found, setFound] = useState<readonly BatchPerson[]>([]);
  const [text, setText] = useState('');
  const { add } = useMemberBatches(id);
  const addresses = addressesIn(text);
  // Staff reach several organizations, of which the group is in one; others have one.
  const within = who?.staff === true ? organization : undefined;
  const run = useMutation({
    async mutationFn(): Promise<Outcome[]> {
      const looked = await lookUp(addresses, within);
      const people = new Map([...found, ...looked.people].map((person) => [person.userUid, person]));
      const outcomes = await add([...people.values()].map((person) => ({ ...person, role })));
      return [...outcomes, ...looked.unknown];
    },
    onSuccess(outcomes) {
      const added = outcomes.filter(({ outcome }) => outcome === 'done').length;
      tell(`${peopleText(added)} added.`);
    },
  });
  if (run.data !== undefined)
    return (
      <OutcomesDialog
        title="Add people"
        onClose={onClose}
        noun="Person"
        outcomes={run.data}
        done="Added"
        already="Already there"
      />
    );
  const total = found.length + addresses.length;
  return (
    <FormDialog
      title="Add people"
      save={`Add ${peopleText(total)}`}
      size="lg"
      busy={run.isPending}
      disabled={total === 0}
      error={run.error === null ? undefined : errorText(run.error)}
      onSave={() => run.mutate()}
      onClose={onClose}
    >
      <SearchedSelect
        first
        label="Person"
        placeholder="Name or address"
        choices={['people-uids', within ?? '']}
        find={async (search, signal) =>
          (await findPeople(search, signal, within)).map(({ uid, name, email }) => ({
            value: uid,
            label: name === null || name === undefined ? email : `${name} (${email})`,
          }))
        }
        value={null}
        forgets
        onChange={(person) => {
          if (person === null || found.some(({ userUid }) => userUid === person.value)) return;
          setFound([...found, { userUid: person.value, name: person.label }]);
        }}
      />
      <ChosenPills
        label="People to add"
        chosen={found.map(({ userUid, name }) => ({ value: userUid, label: name }))}
        onLeaveOut={(value) => setFound(found.filter(({ userUid }) => userUid !== value))}
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
          {counted(addresses.length, 'address', 'addresses')} found in it.
        </Text>
      )}
      <Select
        label="Role"
        data={ROLES.map(({ value, label }) => ({ value, label }))}
        allowDeselect={false}
        description={`${roleName(role)}: ${ROLES.find(({ value }) => value === role)?.does ?? ''} Who has another role gets this one.`}
        value={role}
        onChange={(value) => value !== null && setRole(value as GroupRole)}
      />
    </FormDialog>
  );
}

/** @returns the addresses in a text that was pasted, each once: of lines, lists with commas, `Name <address>` */
function addressesIn(text: string): string[] {
  const found = text.match(/[^\s<>,;"()]+@[^\s<>,;"()]+/g) ?? [];
  return [...new Map(found.map((address) => [address.toLowerCase(), address])).values()];
}

/** Finds out who has these addresses. */
async function lookUp(addresses: readonly string[], organization: string | undefined) {
  const people: BatchPerson[] = [];
  const unknown: Outcome[] = [];
  const { signal } = new AbortController();
  for (let from = 0; from < addresses.length; from += AT_ONCE) {
    const some = addresses.slice(from, from + AT_ONCE);
    const found = await Promise.all(some.map((address) => personByAddress(address, signal, organization)));
    for (const [at, person] of found.entries()) {
      const name = some[at] ?? '';
      if (person === undefined)
        unknown.push({ name, outcome: 'refused', why: 'Nobody here has this address. Invite them first.' });
      else people.push({ userUid: person.uid, name });
    }
  }
  return { people, unknown };
}
