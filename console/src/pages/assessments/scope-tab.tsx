import { Button, Code, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPencil, IconPlus, IconX } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import type { VersionedAssessment } from '../../queries/assessments.ts';
import { ASSET_TYPE_LABELS } from '../../queries/assets.ts';
import { type ScopeAsset, useUpdateScope, useScope } from '../../queries/assessment-scope.ts';
import { IconAction } from '../../components/page-actions.tsx';
import { CriticalityMark } from '../../components/marks.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText, notifyError } from '../../components/notifications.ts';
import { DataTable } from '../../components/data-table.tsx';
import { type Column, RowLink } from '../../components/table-column.tsx';
import { useAssetPermissions } from '../../session/permissions.ts';
import { parseScopeRules as rulesIn } from '../assets/pasted-assets.ts';
import { AddToScopeDialog } from './add-to-scope-dialog.tsx';
import { scopeMessages as messages } from './messages.ts';
import classes from './assessment-page.module.css';

/** The assets in scope of an assessment, with their rules (operations 79 and 11). */
export function ScopeTab({ assessment }: { assessment: VersionedAssessment }) {
  const { uid, organization_uid, permissions } = assessment;
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, 120);
  const list = useScope(uid, search);
  const canWrite = useAssetPermissions().hasScope && permissions?.write_assets === true;
  const [dialog, setDialog] = useState<'add' | ScopeAsset>();
  const { mutate } = useUpdateScope(uid);
  const columns = useMemo(
    () =>
      scopeColumns(
        canWrite
          ? {
              onRules: setDialog,
              onRemove: (asset) =>
                mutate(
                  { asset, previousRules: scopeRuleTexts(asset), rules: null },
                  { onError: (error) => notifyError(messages.removeFailed, error) },
                ),
            }
          : undefined,
      ),
    [canWrite, mutate],
  );
  const add = canWrite && (
    <Button size="xs" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setDialog('add')}>
      {messages.add}
    </Button>
  );
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <TextInput
          type="search"
          size="xs"
          flex="1 1 160px"
          maw={240}
          aria-label={messages.search}
          placeholder={messages.search}
          maxLength={255}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {add}
      </Group>
      <div className={classes.table}>
        <DataTable
          label={messages.tableLabel}
          list={list}
          columns={columns}
          rowId={({ assetUid }) => assetUid}
          rowName={({ location }) => location}
          empty={
            search === '' ? (
              <EmptyState title={messages.emptyTitle}>
                {canWrite ? messages.emptyHint : messages.emptyHintReadOnly}
              </EmptyState>
            ) : (
              <EmptyState title={messages.noResults} />
            )
          }
        />
      </div>
      {dialog === 'add' && (
        <AddToScopeDialog uid={uid} organizationUid={organization_uid} onClose={() => setDialog(undefined)} />
      )}
      {typeof dialog === 'object' && (
        <RulesDialog uid={uid} asset={dialog} onClose={() => setDialog(undefined)} />
      )}
    </Stack>
  );
}

const scopeRuleTexts = ({ scopeRules }: ScopeAsset) => scopeRules.map(({ rule }) => rule);

interface ScopeActions {
  onRules: (asset: ScopeAsset) => void;
  onRemove: (asset: ScopeAsset) => void;
}

function scopeColumns(actions: ScopeActions | undefined): readonly Column<ScopeAsset>[] {
  return [
    {
      id: 'location',
      header: 'Location',
      width: 'minmax(110px, 2fr)',
      cell: ({ assetUid, location }) => (
        <RowLink to={`/assets/${assetUid}`} title={location}>
          {location}
        </RowLink>
      ),
    },
    {
      id: 'type',
      header: 'Type',
      width: '100px',
      minTableWidth: 560,
      cell: ({ assetType }) => ASSET_TYPE_LABELS[assetType],
    },
    {
      id: 'criticality',
      header: 'Criticality',
      width: '100px',
      minTableWidth: 700,
      cell: ({ criticality }) => (
        <CriticalityMark criticality={criticality} withLabel={criticality !== 'undefined'} />
      ),
    },
    {
      id: 'rules',
      header: 'Rules',
      width: 'minmax(80px, 3fr)',
      cell: (asset) => (
        <span title={scopeRuleTexts(asset).join('\n')}>{scopeRuleTexts(asset).join(' · ')}</span>
      ),
    },
    ...(actions === undefined
      ? []
      : [
          {
            id: 'actions',
            header: 'Actions',
            width: '76px',
            cell: (asset: ScopeAsset) => (
              <Group gap={4} wrap="nowrap">
                <IconAction
                  label={messages.editRulesOf(asset.location)}
                  icon={IconPencil}
                  onClick={() => actions.onRules(asset)}
                />
                <IconAction
                  label={messages.removeFromScope(asset.location)}
                  icon={IconX}
                  onClick={() => actions.onRemove(asset)}
                />
              </Group>
            ),
          },
        ]),
  ];
}

interface RulesDialogProps {
  uid: string;
  asset: ScopeAsset;
  onClose: () => void;
}

/** Edits the rules of an asset in the scope. */
function RulesDialog({ uid, asset, onClose }: RulesDialogProps) {
  const [text, setText] = useState(scopeRuleTexts(asset).join('\n'));
  const change = useUpdateScope(uid);
  return (
    <FormDialog
      title={messages.editRules}
      submitLabel="Save"
      isPending={change.isPending}
      error={errorText(change.error)}
      onClose={onClose}
      onSubmit={() =>
        change.mutate(
          { asset, previousRules: scopeRuleTexts(asset), rules: rulesIn(text) },
          { onSuccess: onClose },
        )
      }
    >
      <Code block style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {asset.location}
      </Code>
      <Textarea
        label="Rules"
        data-autofocus
        description={messages.rulesHint}
        autosize
        minRows={3}
        maxRows={12}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
