import { ActionIcon, Anchor, Button, Code, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPencil, IconPlus, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { api, type Assessment } from '../../api/client.ts';
import { ASSET_TYPES } from '../../api/assets.ts';
import { type ScopeAsset, type ScopeChange, useChangeScope, useScope } from '../../api/listing-assets.ts';
import { CriticalityMark } from '../../parts/criticality-mark.tsx';
import { Empty } from '../../parts/empty.tsx';
import type { Option } from '../../parts/filter-kind.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { errorText, tellError } from '../../parts/notices.tsx';
import { RowsTable } from '../../parts/rows-table.tsx';
import type { Column } from '../../parts/table-column.ts';
import { SearchedSelect } from '../../parts/searched-select.tsx';
import { whoAmI } from '../../session/who.ts';
import classes from './assessment-page.module.css';

/** The scopes of operation 11. */
const WRITING = new Set(['asset_gw', 'asset_client_ow', 'asset_boss_ow', 'asset_client_lw', 'asset_boss_lw']);

type Asked = { kind: 'add' } | { kind: 'rules'; asset: ScopeAsset };

/** The assets that an assessment covers, with their rules in it (operations 79 and 11). */
export function ScopeTab({ assessment: { uid, organization_uid } }: { assessment: Assessment }) {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, 120);
  const list = useScope(uid, search);
  const { data: who } = useQuery(whoAmI);
  const mayWrite = who?.scopes.some((scope) => WRITING.has(scope)) === true;
  const [asked, setAsked] = useState<Asked>();
  const { mutate } = useChangeScope(uid);
  const columns = useMemo(
    () =>
      columnsOf(
        mayWrite
          ? {
              onRules: (asset) => setAsked({ kind: 'rules', asset }),
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
    <Button
      size="xs"
      leftSection={<IconPlus size={14} aria-hidden />}
      onClick={() => setAsked({ kind: 'add' })}
    >
      Add to the scope
    </Button>
  );
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <TextInput
          type="search"
          size="xs"
          w={240}
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
      {asked !== undefined && (
        <ScopeDialog
          uid={uid}
          organization={organization_uid}
          asset={asked.kind === 'rules' ? asked.asset : undefined}
          onClose={() => setAsked(undefined)}
        />
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
        <Anchor component={Link} to={`/assets/${assetUid}`} size="sm" c="inherit" fw={500} title={location}>
          {location}
        </Anchor>
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
            width: '64px',
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

/** An asset that can be put into the scope; with its rules where it is in it already. */
type FoundAsset = Option & { rules?: readonly string[] };

interface ScopeDialogProps {
  uid: string;
  organization: string;
  /** The one whose rules change; absent where one is added. */
  asset: ScopeAsset | undefined;
  onClose: () => void;
}

/** Asks for an asset, and for the rules that hold for it. */
function ScopeDialog({ uid, organization, asset, onClose }: ScopeDialogProps) {
  const [found, setFound] = useState<FoundAsset | null>(null);
  const [text, setText] = useState(asset === undefined ? '' : rulesOf(asset).join('\n'));
  const change = useChangeScope(uid);
  const wanted = asset ?? (found === null ? undefined : { assetUid: found.value, location: found.label });
  return (
    <FormDialog
      title={asset === undefined ? 'Add to the scope' : 'Rules'}
      save={asset === undefined ? 'Add' : 'Save'}
      busy={change.isPending}
      disabled={wanted === undefined}
      error={change.error === null ? undefined : errorText(change.error)}
      onClose={onClose}
      onSave={() => {
        if (wanted === undefined) return;
        const rules = text
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== '');
        const next: ScopeChange = {
          asset: wanted,
          former: asset === undefined ? (found?.rules ?? null) : rulesOf(asset),
          rules,
        };
        change.mutate(next, { onSuccess: onClose });
      }}
    >
      {asset === undefined ? (
        <SearchedSelect
          label="Asset"
          placeholder="Address or name"
          first
          required
          choices={['assets', organization, uid]}
          find={async (search, signal) => {
            const { data } = await api.GET('/api/asset/v2/assets', {
              params: { query: { 'organizationUid[]': [organization], search, perPage: 20 } },
              signal,
            });
            return data.map(({ uid: assetUid, location, listings }): FoundAsset => {
              const listed = listings.find(({ listingUid }) => listingUid === uid);
              return {
                value: assetUid,
                label: location ?? assetUid,
                ...(listed === undefined ? {} : { rules: listed.scopeRules.map(({ rule }) => rule) }),
              };
            });
          }}
          description={found?.rules && 'It is in scope already. Its rules are below, and change with them.'}
          value={found}
          onChange={(one) => {
            setFound(one);
            // What was typed is kept but for the rules of the one before.
            if (one?.rules !== undefined || text === found?.rules?.join('\n'))
              setText(one?.rules?.join('\n') ?? '');
          }}
        />
      ) : (
        <Code block style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {asset.location}
        </Code>
      )}
      <Textarea
        label="Rules"
        // Where an asset is added, its field comes before.
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
