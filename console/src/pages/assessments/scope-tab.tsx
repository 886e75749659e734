import { ActionIcon, Button, Code, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPencil, IconPlus, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Assessment } from '../../queries/client.ts';
import { ASSET_TYPES } from '../../queries/assets.ts';
import { type ScopeAsset, useChangeScope, useScope } from '../../queries/assessment-scope.ts';
import { CriticalityMark } from '../../components/criticality-badge.tsx';
import { Empty } from '../../components/empty-state.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText, tellError } from '../../components/notifications.tsx';
import { RowsTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/table-column.ts';
import { whoAmI } from '../../session/current-user.ts';
import { rulesOf as rulesIn } from '../assets/scope-rules.ts';
import { AddToScope } from './add-to-scope-dialog.tsx';
import classes from './assessment-page.module.css';
import { RowLink } from '../../components/row-link.tsx';

/** The scopes of operation 11. */
const WRITING = new Set(['asset_gw', 'asset_client_ow', 'asset_boss_ow', 'asset_client_lw', 'asset_boss_lw']);

/** The assets that an assessment covers, with their rules in it (operations 79 and 11). */
export function ScopeTab({ assessment: { uid, organization_uid } }: { assessment: Assessment }) {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, 120);
  const list = useScope(uid, search);
  const { data: who } = useQuery(whoAmI);
  const mayWrite = who?.scopes.some((scope) => WRITING.has(scope)) === true;
  const [asked, setAsked] = useState<'add' | ScopeAsset>();
  const { mutate } = useChangeScope(uid);
  const columns = useMemo(
    () =>
      columnsOf(
        mayWrite
          ? {
              onRules: setAsked,
              onRemove: (asset) =>
                mutate(
                  { asset, former: rulesOf(asset), rules: null },
                  { onError: (error) => tellError('It could not be taken out of scope', error) },
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
        <RowsTable
          label="Assets in scope"
          list={list}
          columns={columns}
          rowId={({ assetUid }) => assetUid}
          rowName={({ location }) => location}
          empty={
            search === '' ? (
              <Empty title="Nothing is in scope yet">
                Say what is tested here: hosts, web applications, each with the rules that hold for it.
              </Empty>
            ) : (
              <Empty title="None matches" />
            )
          }
        />
      </div>
      {asked === 'add' && (
        <AddToScope uid={uid} organization={organization_uid} onClose={() => setAsked(undefined)} />
      )}
      {typeof asked === 'object' && (
        <RulesDialog uid={uid} asset={asked} onClose={() => setAsked(undefined)} />
      )}
    </Stack>
  );
}

const rulesOf = ({ scopeRules }: ScopeAsset) => scopeRules.map(({ rule }) => rule);

interface ScopeActions {
  onRules: (asset: ScopeAsset) => void;
  onRemove: (asset: ScopeAsset) => void;
}

function columnsOf(actions: ScopeActions | undefined): readonly Column<ScopeAsset>[] {
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
      from: 560,
      cell: ({ assetType }) => ASSET_TYPES[assetType],
    },
    {
      id: 'criticality',
      header: 'Criticality',
      width: '100px',
      from: 700,
      cell: ({ criticality }) => <CriticalityMark criticality={criticality} />,
    },
    {
      id: 'rules',
      header: 'Rules',
      width: 'minmax(80px, 3fr)',
      cell: (asset) => <span title={rulesOf(asset).join('\n')}>{rulesOf(asset).join(' · ')}</span>,
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
  const [text, setText] = useState(rulesOf(asset).join('\n'));
  const change = useChangeScope(uid);
  return (
    <FormDialog
      title="Rules"
      save="Save"
      busy={change.isPending}
      error={change.error === null ? undefined : errorText(change.error)}
      onClose={onClose}
      onSave={() =>
        change.mutate({ asset, former: rulesOf(asset), rules: rulesIn(text) }, { onSuccess: onClose })
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
