import { Alert, NativeSelect, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ChangeOfEachVulnerability, VulnerabilityFilter } from '../../../../client/src/openapi-types.ts';
import { statusesQuery } from '../../queries/vulnerabilities.ts';
import {
  type BulkUpdateRequest,
  MAX_BULK_UPDATE,
  previewBulkUpdate,
  useBulkUpdate,
} from '../../queries/bulk-update.ts';
import { usePublishDrafts } from '../../queries/publish-drafts.ts';
import { isDismissal, maySetStatus, statusName } from '../../queries/statuses.ts';
import { commonMessages } from '../../components/messages.ts';
import { MarkdownField } from '../../components/markdown-field.tsx';
import { useIsStaff, usePermissions } from '../../session/permissions.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.ts';
import { type Person, PersonPicker } from '../../components/person-picker.tsx';
import { SEVERITIES, type Severity } from '../../queries/enums.ts';
import { bulkEditMessages } from './dialog-messages.ts';
import { TagNamesInput } from './tag-names-input.tsx';

interface BulkEditAllProps {
  filter: VulnerabilityFilter;
  /** Number of matches that the list showed. */
  total: number;
  onClose: () => void;
}

type PendingEdit = Pick<BulkUpdateRequest, 'set' | 'label' | 'assignee'>;

const PUBLISH = 'Publish drafts';
const EDITABLE_FIELDS = [
  'Status',
  'Severity',
  'Add tags',
  'Remove tags',
  'Assignee',
  'Due date',
  PUBLISH,
] as const;
type EditableField = (typeof EDITABLE_FIELDS)[number];
/** Fields that roles without triage may edit as well. */
const WORKFLOW_FIELDS: readonly EditableField[] = ['Status', 'Assignee', 'Due date'];

/** Edits all matches of a search, loaded or not. A dry run shows first how many will change. */
export default function BulkEditAll({ filter, total, onClose }: BulkEditAllProps) {
  const [field, setField] = useState<EditableField>('Status');
  const [edit, setEdit] = useState<PendingEdit>();
  const [comment, setComment] = useState('');
  const permissions = usePermissions();
  const canTriage = permissions.allowsAll('triage', filter.assessment_id);
  const canDismiss = permissions.allowsAll('dismiss', filter.assessment_id);
  const isDismissed = isDismissal(edit?.set.status_id ?? 0);
  const isReasonMissing = isDismissed && comment.trim() === '';
  const isStaff = useIsStaff() === true;
  const isPublishing = field === PUBLISH;
  const publish = usePublishDrafts();
  const change = useBulkUpdate();
  const [settled] = useDebouncedValue(edit, 200);
  const preview = useQuery({
    queryKey: ['bulk-edit-preview', filter, settled?.set],
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
  const count = settled === edit ? preview.data : undefined;
  return (
    <FormDialog
      title={bulkEditMessages.title(total)}
      submitLabel={
        isPublishing && count !== undefined
          ? commonMessages.draft.publishCount(count.changed)
          : bulkEditMessages.submit(count?.changed)
      }
      isPending={publish.isPending}
      error={errorText(publish.error)}
      isDisabled={edit === undefined || count === undefined || count.changed === 0 || isReasonMissing}
      onClose={onClose}
      onSubmit={() => {
        if (edit === undefined || count === undefined) return;
        const request = { filter, expectedCount: count.matched, comment };
        if (isPublishing) return publish.mutate(request, { onSuccess: onClose });
        change.mutate({ ...request, ...edit });
        onClose();
      }}
    >
      <NativeSelect
        label="Field"
        data-autofocus
        data={EDITABLE_FIELDS.filter((name) =>
          name === PUBLISH ? isStaff : canTriage || WORKFLOW_FIELDS.includes(name),
        )}
        value={field}
        onChange={(event) => {
          const next = event.currentTarget.value as EditableField;
          setField(next);
          setEdit(next === PUBLISH ? { set: { draft: false }, label: next } : undefined);
          publish.reset();
        }}
      />
      <ValueField
        key={field}
        field={field}
        // The preview says so if one of the matches has another status.
        allowsStatus={(to) =>
          maySetStatus({ comment: true, triage: canTriage, dismiss: canDismiss }, { from: 1, to })
        }
        onChange={setEdit}
      />
      {isPublishing && <Text size="sm">{commonMessages.draft.publishHint(count?.changed ?? total)}</Text>}
      <MarkdownField
        label={isDismissed ? bulkEditMessages.reason : bulkEditMessages.comment}
        description={bulkEditMessages.commentHint}
        required={isDismissed}
        minRows={2}
        value={comment}
        onChange={setComment}
      />
      {preview.error !== null && settled === edit && (
        <Alert color="red" title={bulkEditMessages.previewFailed}>
          {errorText(preview.error)}
        </Alert>
      )}
      <Text size="sm" role="status">
        {edit === undefined
          ? bulkEditMessages.unconfirmed
          : count === undefined
            ? bulkEditMessages.counting
            : bulkEditMessages.preview(count.matched, count.changed)}
        {isReasonMissing && count !== undefined && ` ${bulkEditMessages.reasonMissing}`}
        {total > MAX_BULK_UPDATE &&
          ` ${(isPublishing ? bulkEditMessages.publishBatches : bulkEditMessages.batches)(MAX_BULK_UPDATE)}`}
      </Text>
    </FormDialog>
  );
}

interface ValueFieldProps {
  field: EditableField;
  allowsStatus: (statusId: number) => boolean;
  onChange: (edit: PendingEdit | undefined) => void;
}

function ValueField({ field, allowsStatus, onChange }: ValueFieldProps) {
  const { data: statuses = [] } = useQuery(statusesQuery);
  const set = (change: ChangeOfEachVulnerability | undefined, label: string, assignee?: Person | null) =>
    onChange(change && { set: change, label, ...(assignee === undefined ? {} : { assignee }) });
  switch (field) {
    case 'Status':
      return (
        <NativeSelect
          label="Status"
          data={[
            { value: '', label: bulkEditMessages.choose },
            ...statuses
              .filter(({ id }) => allowsStatus(id))
              .map(({ id }) => ({ value: String(id), label: statusName(id) })),
          ]}
          onChange={({ currentTarget: { value } }) =>
            set(value === '' ? undefined : { status_id: Number(value) }, statusName(Number(value)))
          }
        />
      );
    case 'Severity':
      return (
        <NativeSelect
          label="Severity"
          data={[{ value: '', label: bulkEditMessages.choose }, ...SEVERITIES]}
          onChange={({ currentTarget: { value } }) =>
            set(value === '' ? undefined : { severity: value as Severity }, value)
          }
        />
      );
    case 'Add tags':
    case 'Remove tags':
      return (
        <TagNamesInput
          label="Tags"
          onChange={(names) =>
            set(
              names.length === 0
                ? undefined
                : field === 'Add tags'
                  ? { add_tags: names }
                  : { remove_tags: names },
              field === 'Add tags' ? names.join(', ') : bulkEditMessages.removedTags(names),
            )
          }
        />
      );
    case 'Assignee':
      return (
        <AssigneeField onPick={(person, name) => set({ assignee_id: person?.id ?? null }, name, person)} />
      );
    case 'Due date':
      return (
        <TextInput
          type="date"
          label={bulkEditMessages.dueDate}
          max="9999-12-31"
          onChange={({ currentTarget: { value } }) =>
            set(/^[12]\d{3}-/.test(value) ? { due_on: value } : undefined, bulkEditMessages.due(value))
          }
        />
      );
    case PUBLISH:
      return null;
  }
}

function AssigneeField({ onPick }: { onPick: (person: Person | null, name: string) => void }) {
  const [picked, setPicked] = useState<string>();
  return (
    <>
      <PersonPicker
        label="Assignee"
        onPick={(person) => {
          const name = commonMessages.person.assignee(person);
          setPicked(name);
          onPick(person, name);
        }}
      />
      {picked !== undefined && <Text size="sm">{bulkEditMessages.assignTo(picked)}</Text>}
    </>
  );
}
