import { Alert, Button, Group, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ChangeOfEachVulnerability, VulnerabilityFilter } from '../../../../client/src/description.ts';
import { statuses } from '../../queries/vulnerabilities.ts';
import {
  type BulkUpdateRequest,
  MAX_BULK_UPDATE,
  previewBulkUpdate,
  useBulkUpdate,
} from '../../queries/bulk-update.ts';
import { pluralize } from '../../components/pluralize.ts';
import { Dialog } from '../../components/dialog.tsx';
import { errorText } from '../../components/notifications.tsx';
import { type Person, PersonPicker } from '../../components/person-picker.tsx';
import { SEVERITIES } from '../../components/severity-badge.tsx';
import { TagNamesInput } from './tag-names-input.tsx';

interface BulkEditAllProps {
  filter: VulnerabilityFilter;
  /** How many there were when the list was read. */
  total: number;
  onClose: () => void;
}

type PendingEdit = Pick<BulkUpdateRequest, 'set' | 'label' | 'assignee'>;

const EDITABLE_FIELDS = [
  'Status',
  'Severity',
  'Tags to add',
  'Tags to remove',
  'Assignee',
  'Due day',
] as const;
type EditableField = (typeof EDITABLE_FIELDS)[number];

/** Changes all that a search finds, those that were not read too: it is tried first, and told how many it will touch. */
export default function BulkEditAll({ filter, total, onClose }: BulkEditAllProps) {
  const [kind, setKind] = useState<EditableField>('Status');
  const [wanted, setWanted] = useState<PendingEdit>();
  const [comment, setComment] = useState('');
  const change = useBulkUpdate();
  const [settled] = useDebouncedValue(wanted, 200);
  const tried = useQuery({
    queryKey: ['tried-change', filter, settled?.set],
    queryFn: ({ signal }) =>
      previewBulkUpdate(
        { filter, expectedCount: total, set: settled?.set ?? {}, label: settled?.label ?? '' },
        signal,
      ),
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
          change.mutate({ filter, expectedCount: count.matched, comment, ...wanted });
          onClose();
        }}
      >
        <Stack gap="sm">
          <NativeSelect
            label="What changes"
            data-autofocus
            data={[...EDITABLE_FIELDS]}
            value={kind}
            onChange={(event) => {
              setKind(event.currentTarget.value as EditableField);
              setWanted(undefined);
            }}
          />
          <ValueField key={kind} kind={kind} onChange={setWanted} />
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
                : `${pluralize(count.matched, 'matches', 'match')}, ${count.changed.toLocaleString()} of them will change.`}
            {total > MAX_BULK_UPDATE &&
              ` They are changed in parts of ${MAX_BULK_UPDATE.toLocaleString()}; when one is refused, those before it are set back.`}
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

interface ValueFieldProps {
  kind: EditableField;
  onChange: (wanted: PendingEdit | undefined) => void;
}

/** What it becomes. */
function ValueField({ kind, onChange }: ValueFieldProps) {
  const { data: known = [] } = useQuery(statuses);
  const set = (change: ChangeOfEachVulnerability | undefined, what: string, assignee?: Person | null) =>
    onChange(change && { set: change, label: what, ...(assignee === undefined ? {} : { assignee }) });
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
        <TagNamesInput
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
        <AssigneeField onPick={(person, what) => set({ assignee_id: person?.id ?? null }, what, person)} />
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

function AssigneeField({ onPick }: { onPick: (person: Person | null, what: string) => void }) {
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
