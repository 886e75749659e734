import { Button, Group, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type AssetRow, type AssetSearch, useAssets } from '../../api/assets.ts';
import { useShortcuts } from '../../app/shortcuts.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { Place } from '../../parts/place.tsx';
import { RowsTable } from '../../parts/rows-table.tsx';
import { useAssetRights } from '../../session/asset-rights.ts';
import { AddAssets } from './add-assets.tsx';
import { ChangeAssets, type ChangeKind } from './change-assets.tsx';
import { COLUMNS } from './columns.tsx';
import { useAssetFilterKinds } from './filter-kinds.ts';
import classes from './asset-list.module.css';

const BY_LOCATION = 'location';

const uidOf = ({ uid }: AssetRow) => uid;
const locationOf = ({ location }: AssetRow) => location;

type AddressChange = { [Name in keyof AssetSearch]?: AssetSearch[Name] | undefined };

/** The assets: a table, its filters, and what is done with many of them. */
export function AssetList() {
  const search = useSearch({ from: '/assets' });
  const navigate = useNavigate({ from: '/assets' });
  const list = useAssets({ sort: BY_LOCATION, ...search });
  const kinds = useAssetFilterKinds();
  const rights = useAssetRights();
  const [current, setCurrent] = useState<number>();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [change, setChange] = useState<ChangeKind>();
  const [adding, setAdding] = useState(false);

  const filter = (next: AddressChange) => {
    setCurrent(undefined);
    setChosen(new Set());
    void navigate({
      search: (now) =>
        Object.fromEntries(
          Object.entries({ ...now, ...next }).filter(([, value]) => value !== undefined),
        ) as AssetSearch,
      replace: true,
    });
  };
  const row = current === undefined ? undefined : list.at(current);
  const targets = chosen.size > 0 ? rowsOf(list, chosen) : row === undefined ? [] : [row];
  const step = (by: number) =>
    setCurrent(Math.max(0, Math.min(list.loaded - 1, (current ?? (by > 0 ? -1 : 1)) + by)));
  const begin = (kind: ChangeKind) => () => targets.length > 0 && setChange(kind);
  const openRow = ({ uid }: AssetRow) => void navigate({ to: `/assets/${uid}` });

  const changes = [
    ...(rights.write ? [{ kind: 'criticality', key: 'e', label: 'Criticality' } as const] : []),
    ...(rights.tag ? [{ kind: 'tags', key: 't', label: 'Tags' } as const] : []),
    ...(rights.write ? [{ kind: 'listing', key: 'l', label: 'Listing' } as const] : []),
  ];
  useShortcuts({
    j: { label: 'Next asset', run: () => step(1) },
    k: { label: 'Asset before', run: () => step(-1) },
    o: { label: 'Open it', run: () => row && openRow(row) },
    x: {
      label: 'Choose it, or not',
      run() {
        if (row === undefined) return;
        const next = new Set(chosen);
        if (!next.delete(row.uid)) next.add(row.uid);
        setChosen(next);
      },
    },
    ...Object.fromEntries(changes.map(({ kind, key, label }) => [key, { label, run: begin(kind) }])),
    ...(rights.write ? { n: { label: 'Add assets', run: () => setAdding(true) } } : {}),
    Escape: { label: 'Choose none', run: () => setChosen(new Set()) },
  });

  const values = Object.fromEntries(
    kinds.map(({ name }) => [name, ((search as Record<string, unknown[]>)[name] ?? []).map(String)]),
  );
  const isFiltered = Object.keys(search).some((name) => name !== 'sort');
  const addButton = rights.write && (
    <Button size="xs" leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      Add assets
    </Button>
  );
  return (
    <Place
      title="Assets"
      fills
      actions={
        <>
          <Text size="sm" c="dimmed" aria-live="polite">
            {list.isPending ? 'Reading' : `${list.total.toLocaleString()} found`}
          </Text>
          {addButton}
        </>
      }
      tools={
        chosen.size > 0 ? (
          <Group gap="xs" className={classes.chosen}>
            <Text size="sm" fw={600}>
              {chosen.size.toLocaleString()} chosen
            </Text>
            {changes.map(({ kind, label }) => (
              <Button key={kind} size="compact-sm" variant="light" onClick={begin(kind)}>
                {label}
              </Button>
            ))}
            <Button size="compact-sm" variant="subtle" onClick={() => setChosen(new Set())}>
              Choose none
            </Button>
          </Group>
        ) : (
          <FilterBar
            kinds={kinds}
            values={values}
            onChange={(name, next) =>
              filter({
                [name]: next.length === 0 ? undefined : name === 'portNumber' ? next.map(Number) : [...next],
              })
            }
            search={search.search}
            searchLabel="Search names and addresses"
            onSearch={(words) => filter({ search: words === '' ? undefined : words })}
          />
        )
      }
    >
      <div className={classes.grow}>
        <RowsTable
          label="Assets"
          list={list}
          columns={COLUMNS}
          rowId={uidOf}
          rowName={locationOf}
          current={current}
          onCurrent={setCurrent}
          onOpen={openRow}
          {...(changes.length === 0 ? {} : { choice: { chosen, onChange: setChosen } })}
          sort={search.sort ?? BY_LOCATION}
          onSort={(sort) => filter({ sort })}
          empty={
            isFiltered ? (
              <Empty
                title="None matches"
                action={
                  <Button variant="light" onClick={() => void navigate({ search: {} })}>
                    Remove all filters
                  </Button>
                }
              />
            ) : (
              <Empty title="No assets yet" action={addButton}>
                Paste a list of hosts and URLs, or import the report of a scanner, which adds what it found.
              </Empty>
            )
          }
        />
      </div>
      {change !== undefined && (
        <ChangeAssets kind={change} rows={targets} onClose={() => setChange(undefined)} />
      )}
      {adding && <AddAssets onClose={() => setAdding(false)} />}
    </Place>
  );
}

function rowsOf(
  list: { loaded: number; at: (index: number) => AssetRow | undefined },
  chosen: ReadonlySet<string>,
): AssetRow[] {
  const rows: AssetRow[] = [];
  for (let index = 0; index < list.loaded; index += 1) {
    const row = list.at(index);
    if (row !== undefined && chosen.has(row.uid)) rows.push(row);
  }
  return rows;
}
