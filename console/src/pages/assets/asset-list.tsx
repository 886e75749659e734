import { Button, Group, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type AssetRow, type AssetSearch, useAssets } from '../../queries/assets.ts';
import { useCurrentRow, useRowKeys } from '../../components/current-row.ts';
import { Empty, NoneMatch } from '../../components/empty-state.tsx';
import { NewButton } from '../../components/new-button.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { Found } from '../../components/result-count.tsx';
import { Place } from '../../components/page.tsx';
import { RowsTable, toggled } from '../../components/data-table.tsx';
import { useAssetRights } from '../../session/asset-permissions.ts';
import { AddAssets } from './add-assets-dialog.tsx';
import { ChangeAssets, type ChangeKind } from './edit-assets-dialogs.tsx';
import { COLUMNS } from './columns.tsx';
import { useAssetFilterKinds } from './filters.ts';
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
  const rows = useCurrentRow(list);
  const { current, setCurrent, row } = rows;
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
  const targets = chosen.size > 0 ? rowsOf(list, chosen) : row === undefined ? [] : [row];
  const begin = (kind: ChangeKind) => () => targets.length > 0 && setChange(kind);
  const openRow = ({ uid }: AssetRow) => void navigate({ to: `/assets/${uid}` });

  const changes = [
    ...(rights.write ? [{ kind: 'criticality', key: 'e', label: 'Criticality' } as const] : []),
    ...(rights.tag ? [{ kind: 'tags', key: 't', label: 'Tags' } as const] : []),
    ...(rights.write ? [{ kind: 'listing', key: 'l', label: 'Listing' } as const] : []),
  ];
  useRowKeys(rows, {
    noun: 'asset',
    open: { run: openRow },
    others: {
      x: {
        label: 'Choose it, or not',
        run: () => row !== undefined && setChosen(toggled(chosen, row.uid)),
      },
      ...Object.fromEntries(changes.map(({ kind, key, label }) => [key, { label, run: begin(kind) }])),
      ...(rights.write ? { n: { label: 'Add assets', run: () => setAdding(true) } } : {}),
      Escape: { label: 'Choose none', run: () => setChosen(new Set()) },
    },
  });

  const values = Object.fromEntries(
    kinds.map(({ name }) => [name, ((search as Record<string, unknown[]>)[name] ?? []).map(String)]),
  );
  const isFiltered = Object.keys(search).some((name) => name !== 'sort');
  const addButton = rights.write && <NewButton verb="Add" noun="assets" onClick={() => setAdding(true)} />;
  return (
    <Place
      title="Assets"
      fills
      actions={
        <>
          <Found list={list} />
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
              <NoneMatch onClear={() => void navigate({ search: {} })} />
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
