import { ActionIcon, Button, Code, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPencil, IconPlus, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Assessment } from '../../queries/client.ts';
import { ASSET_TYPES } from '../../queries/assets.ts';
import { type ScopeAsset, useUpdateScope, useScope } from '../../queries/assessment-scope.ts';
import { CriticalityBadge } from '../../components/criticality-badge.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText, notifyError } from '../../components/notifications.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/table-column.ts';
import { currentUser } from '../../session/current-user.ts';
import { parseScopeRules as rulesIn } from '../assets/scope-rules.ts';
import { AddToScopeDialog } from './add-to-scope-dialog.tsx';
import classes from './assessment-page.module.css';
import { RowLink } from '../../components/row-link.tsx';

/** The scopes of operation 11. */
const WRITE_SCOPES = new Set([
  'asset_gw',
  'asset_client_ow',
  'asset_boss_ow',
  'asset_client_lw',
  'asset_boss_lw',
]);

/** The assets that an assessment covers, with their rules in it (operations 79 and 11). */
export function ScopeTab({ assessment: { uid, organization_uid } }: { assessment: Assessment }) {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, 120);
  const list = useScope(uid, search);
  const { data: who } = useQuery(currentUser);
  const mayWrite = who?.scopes.some((scope) => WRITE_SCOPES.has(scope)) === true;
  const [asked, setAsked] = useState<'add' | ScopeAsset>();
  const { mutate } = useUpdateScope(uid);
  const columns = useMemo(
    () =>
      scopeColumns(
        mayWrite
          ? {
              onRules: setAsked,
              onRemove: (asset) =>
                mutate(
                  { asset, previousRules: scopeRuleTexts(asset), rules: null },
                  { onError: (error) => notifyError('It could not be taken out of scope', error) },
                ),
            }
          : undefined,
      ),
    [mayWrite, mutate],
  );
  const add = mayWrite && (
    <Button size="xs" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setAsked('add')}>
      Add to the scope
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
          aria-label="Search the scope"
          placeholder="Search the scope"
          maxLength={255}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {add}
      </Group>
      <div className={classes.table}>
        <DataTable
          label="Assets in scope"
          list={list}
          columns={columns}
          rowId={({ assetUid }) => assetUid}
          rowName={({ location }) => location}
          empty={
            search === '' ? (
              <EmptyState title="Nothing is in scope yet">
                Say what is tested here: hosts, web applications, each with the rules that hold for it.
              </EmptyState>
            ) : (
              <EmptyState title="None matches" />
            )
          }
        />
      </div>
      {asked === 'add' && (
        <AddToScopeDialog uid={uid} organization={organization_uid} onClose={() => setAsked(undefined)} />
      )}
      {typeof asked === 'object' && (
        <RulesDialog uid={uid} asset={asked} onClose={() => setAsked(undefined)} />
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
      cell: ({ assetType }) => ASSET_TYPES[assetType],
    },
    {
      id: 'criticality',
      header: 'Criticality',
      width: '100px',
      minTableWidth: 700,
      cell: ({ criticality }) => <CriticalityBadge criticality={criticality} />,
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
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Rules of ${asset.location}`}
                  onClick={() => actions.onRules(asset)}
                >
                  <IconPencil size={16} />
                </ActionIcon>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Take ${asset.location} out of scope`}
                  onClick={() => actions.onRemove(asset)}
                >
                  <IconX size={16} />
                </ActionIcon>
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

/** Asks for the rules that hold for an asset. */
function RulesDialog({ uid, asset, onClose }: RulesDialogProps) {
  const [text, setText] = useState(scopeRuleTexts(asset).join('\n'));
  const change = useUpdateScope(uid);
  return (
    <FormDialog
      title="Rules"
      submitLabel="Save"
      isPending={change.isPending}
      error={change.error === null ? undefined : errorText(change.error)}
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
        description="One a line, such as: No tests from 08:00 to 18:00 UTC"
        autosize
        minRows={3}
        maxRows={12}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
