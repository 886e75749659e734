import { Alert, Button, Group, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ChangeOfEachVulnerability, VulnerabilityFilter } from '../../../../client/src/description.ts';
import { statuses } from '../../queries/vulnerabilities.ts';
import {
  type ManyChange,
  MOST_AT_ONCE,
  tryChange,
  useChangeVulnerabilities,
} from '../../queries/bulk-update.ts';
import { counted } from '../../components/pluralize.ts';
import { Dialog } from '../../components/dialog.tsx';
import { errorText } from '../../components/notifications.tsx';
import { type Person, PersonPicker } from '../../components/person-picker.tsx';
import { SEVERITIES } from '../../components/severity-badge.tsx';
import { TagNames } from './tag-names-input.tsx';

interface ChangeAllProps {
  filter: VulnerabilityFilter;
  /** How many there were when the list was read. */
  total: number;
  onClose: () => void;
}

type Wanted = Pick<ManyChange, 'set' | 'what' | 'person'>;

const KINDS = ['Status', 'Severity', 'Tags to add', 'Tags to remove', 'Assignee', 'Due day'] as const;
type Kind = (typeof KINDS)[number];

/** Changes all that a search finds, those that were not read too: it is tried first, and told how many it will touch. */
export default function ChangeAll({ filter, total, onClose }: ChangeAllProps) {
  const [kind, setKind] = useState<Kind>('Status');
  const [wanted, setWanted] = useState<Wanted>();
  const [comment, setComment] = useState('');
  const change = useChangeVulnerabilities();
  const [settled] = useDebouncedValue(wanted, 200);
  const tried = useQuery({
    queryKey: ['tried-change', filter, settled?.set],
    queryFn: ({ signal }) =>
      tryChange({ filter, expected: total, set: settled?.set ?? {}, what: settled?.what ?? '' }, signal),
    enabled: settled !== undefined,
    gcTime: 0,
    staleTime: 0,
    retry: false,
  });
  const count = settled === wanted ? tried.data : undefined;
  return (
    <Dialog onClose={onClose} title={`Change all ${total.toLocaleString()} that match`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (wanted === undefined || count === undefined || count.changed === 0) return;
          change.mutate({ filter, expected: count.matched, comment, ...wanted });
          onClose();
        }}
      >
        <Stack gap="sm">
          <NativeSelect
            label="What changes"
            data-autofocus
            data={[...KINDS]}
            value={kind}
            onChange={(event) => {
              setKind(event.currentTarget.value as Kind);
              setWanted(undefined);
            }}
          />
          <Value key={kind} kind={kind} onChange={setWanted} />
          <Textarea
            label="Comment on each"
            description="Markdown; may be left out."
            autosize
            minRows={2}
            maxRows={8}
            value={comment}
            onChange={(event) => setComment(event.currentTarget.value)}
          />
          {tried.error !== null && settled === wanted && (
            <Alert color="red" title="It could not be tried">
              {errorText(tried.error)}
            </Alert>
          )}
          <Text size="sm" role="status">
            {wanted === undefined
              ? 'Nothing is changed before you say so.'
              : count === undefined
                ? 'Counting'
                : `${counted(count.matched, 'matches', 'match')}, ${count.changed.toLocaleString()} of them will change.`}
            {total > MOST_AT_ONCE &&
              ` They are changed in parts of ${MOST_AT_ONCE.toLocaleString()}; when one is refused, those before it are set back.`}
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={count === undefined || count.changed === 0}>
              {count === undefined ? 'Change' : `Change ${count.changed.toLocaleString()}`}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

interface ValueProps {
  kind: Kind;
  onChange: (wanted: Wanted | undefined) => void;
}

/** What it becomes. */
function Value({ kind, onChange }: ValueProps) {
  const { data: known = [] } = useQuery(statuses);
  const set = (change: ChangeOfEachVulnerability | undefined, what: string, person?: Person | null) =>
    onChange(change && { set: change, what, ...(person === undefined ? {} : { person }) });
  switch (kind) {
    case 'Status':
      return (
        <NativeSelect
          label="Status"
          data={[
            { value: '', label: 'Choose one' },
            ...known.map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
          onChange={({ currentTarget: { value } }) =>
            set(
              value === '' ? undefined : { status_id: Number(value) },
              known.find(({ id }) => String(id) === value)?.name ?? '',
            )
          }
        />
      );
    case 'Severity':
      return (
        <NativeSelect
          label="Severity"
          data={[{ value: '', label: 'Choose one' }, ...SEVERITIES]}
          onChange={({ currentTarget: { value } }) =>
            set(value === '' ? undefined : { severity: value as (typeof SEVERITIES)[number] }, value)
          }
        />
      );
    case 'Tags to add':
    case 'Tags to remove':
      return (
        <TagNames
          label={kind}
          onChange={(names) =>
            set(
              names.length === 0
                ? undefined
                : kind === 'Tags to add'
                  ? { add_tags: names }
                  : { remove_tags: names },
              kind === 'Tags to add' ? names.join(', ') : `Without ${names.join(', ')}`,
            )
          }
        />
      );
    case 'Assignee':
      return (
        <AssigneeValue onPick={(person, what) => set({ assignee_id: person?.id ?? null }, what, person)} />
      );
    case 'Due day':
      return (
        <TextInput
          type="date"
          label="Due day"
          max="9999-12-31"
          onChange={({ currentTarget: { value } }) =>
            set(/^[12]\d{3}-/.test(value) ? { due_on: value } : undefined, `Due ${value}`)
          }
        />
      );
  }
}

function AssigneeValue({ onPick }: { onPick: (person: Person | null, what: string) => void }) {
  const [picked, setPicked] = useState<string>();
  return (
    <>
      <PersonPicker
        label="Person"
        onPick={(person) => {
          const name = person === null ? 'Nobody' : (person.name ?? person.email);
          setPicked(name);
          onPick(person, name);
        }}
      />
      {picked !== undefined && <Text size="sm">Assigned to: {picked}</Text>}
    </>
  );
}
