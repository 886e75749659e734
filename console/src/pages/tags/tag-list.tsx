import {
  ActionIcon,
  Anchor,
  Box,
  Group,
  SegmentedControl,
  Select,
  Text,
  VisuallyHidden,
} from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { organizations } from '../../queries/organizations.ts';
import { type TagKind, type TagRow, type TagsOf, useTags } from '../../queries/tags.ts';
import { useShortcuts } from '../../app/shortcuts.tsx';
import { Empty, NoneMatch } from '../../components/empty-state.tsx';
import { NewButton } from '../../components/new-button.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { Found } from '../../components/result-count.tsx';
import { Place } from '../../components/page.tsx';
import { RowsTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/table-column.ts';
import { whoAmI } from '../../session/current-user.ts';
import { CreateTag, DeleteTag, RenameTag, thingsText } from './tag-dialogs.tsx';
import { type TagsAddress, tagsSearch } from './search.ts';
import classes from './tag-list.module.css';

const KINDS: { value: TagKind; label: string }[] = [
  { value: 'vulnerability', label: 'Vulnerabilities' },
  { value: 'assessment', label: 'Assessments' },
  { value: 'asset', label: 'Assets' },
];

/** Why some cannot be changed by anybody. */
const FIXED = 'it stays as it is for the whole organization, so nobody can rename or delete it.';

/** Who changes those that one may not. */
const OTHERS: Readonly<Partial<Record<TagKind, string>>> = {
  assessment: 'Tags of assessments are made, renamed and deleted by admins.',
  asset: 'Your account may not make, rename or delete tags of assets.',
};

/** What one who has no tag yet is told. */
const BEGIN: Readonly<Record<TagKind, string>> = {
  vulnerability: 'A tag groups vulnerabilities across assessments: by team, by cause, by customer.',
  assessment: 'A tag groups assessments: by quarter, by contract, by client.',
  asset: 'A tag groups assets: what faces the internet, what handles payment data.',
};

type Asked = { what: 'create' } | { what: 'rename' | 'delete'; tag: TagRow };

/** The tags of vulnerabilities, assessments and assets. */
export function Tags() {
  const { kind = 'vulnerability', search = '', ...address } = useSearch({ from: '/tags' });
  const navigate = useNavigate({ from: '/tags' });
  const { data: who } = useQuery(whoAmI);
  const { data: reached = [] } = useQuery({ ...organizations, enabled: who?.staff === true });
  const organization = who?.organization_uid ?? address.organization ?? reached[0]?.uid;
  const go = (change: TagsAddress) =>
    void navigate({ search: (now) => tagsSearch({ ...now, ...change }), replace: true });
  return (
    <Place
      title="Tags"
      fills
      actions={
        who?.staff === true && (
          <Select
            size="xs"
            aria-label="Organization"
            searchable
            limit={50}
            allowDeselect={false}
            value={organization ?? null}
            data={reached.map(({ uid, name }) => ({ value: uid, label: name }))}
            onChange={(uid) => uid !== null && go({ organization: uid })}
          />
        )
      }
      tools={
        <SegmentedControl
          className={classes.kinds}
          aria-label="Tags of"
          value={kind}
          data={KINDS}
          onChange={(next) => go({ kind: next as TagKind })}
        />
      }
    >
      {who !== undefined && organization !== undefined && (
        <TagList
          key={`${kind} ${organization}`}
          of={{ kind, organization }}
          organizationId={reached.find(({ uid }) => uid === organization)?.id}
          search={search}
          onSearch={(words) => go({ search: words })}
          may={kind === 'vulnerability' || (kind === 'asset' ? mayTag(who.scopes) : who.admin === true)}
        />
      )}
    </Place>
  );
}

/** Whether any of the scopes writes tags of assets. */
const mayTag = (scopes: readonly string[]) => scopes.some((scope) => /^tag_[gol]w$/.test(scope));

interface TagListProps {
  of: TagsOf;
  /** For staff. */
  organizationId: number | undefined;
  search: string;
  onSearch: (search: string) => void;
  may: boolean;
}

function TagList({ of, organizationId, search, onSearch, may }: TagListProps) {
  const { kind } = of;
  const list = useTags(of, search);
  const [current, setCurrent] = useState<number>();
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  const columns = useMemo(() => columnsOf(kind, may, setAsked), [kind, may]);
  const create = () => may && setAsked({ what: 'create' });
  useShortcuts(may ? { n: { label: 'New tag', run: create } } : {});
  const button = <NewButton noun="tag" onClick={create} />;
  return (
    <>
      <FilterBar
        kinds={[]}
        values={{}}
        onChange={() => undefined}
        search={search}
        onSearch={onSearch}
        searchLabel="Search tags"
      >
        <Box ml="auto">
          <Found list={list} />
        </Box>
        {may && button}
      </FilterBar>
      {!may && (
        <Text size="sm" c="dimmed">
          {OTHERS[kind]}
        </Text>
      )}
      <RowsTable
        label={`Tags of ${KINDS.find(({ value }) => value === kind)?.label.toLowerCase()}`}
        list={list}
        columns={columns}
        rowId={({ key }) => key}
        rowName={({ name }) => name}
        current={current}
        onCurrent={setCurrent}
        empty={
          search !== '' ? (
            <NoneMatch onClear={() => onSearch('')} label="Show all tags" />
          ) : (
            <Empty title="No tags yet" action={may && button}>
              {BEGIN[kind]}
            </Empty>
          )
        }
      />
      {asked?.what === 'create' && <CreateTag of={of} organizationId={organizationId} onClose={close} />}
      {asked?.what === 'rename' && <RenameTag of={of} tag={asked.tag} onClose={close} />}
      {asked?.what === 'delete' && <DeleteTag of={of} tag={asked.tag} onClose={close} />}
    </>
  );
}

const LISTS = { vulnerability: '/vulnerabilities', assessment: '/assessments', asset: '/assets' } as const;

/** @returns the address of the things with a tag, in their list */
function withTag(kind: TagKind, key: string): Record<string, unknown> {
  return kind === 'asset' ? { tagUid: [key] } : { tag_id: [Number(key)] };
}

function columnsOf(kind: TagKind, may: boolean, ask: (asked: Asked) => void): Column<TagRow>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      width: 'minmax(70px, 1fr)',
      cell: ({ name }) => (
        <span title={name} dir="auto">
          {name}
        </span>
      ),
    },
    {
      id: 'count',
      header: 'On',
      width: '132px',
      cell: ({ key, count }) =>
        count === 0 ? (
          <Text span size="sm" c="dimmed">
            Nothing
          </Text>
        ) : (
          <Anchor component={Link} to={LISTS[kind]} search={withTag(kind, key) as never} size="sm">
            {thingsText(kind, count)}
          </Anchor>
        ),
    },
    ...(may ? [actionsColumn(ask)] : []),
  ];
}

function actionsColumn(ask: (asked: Asked) => void): Column<TagRow> {
  return {
    id: 'actions',
    header: 'Change',
    width: '72px',
    cell: (tag) =>
      tag.editable ? (
        <Group gap={2} wrap="nowrap">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Rename ${tag.name}`}
            onClick={() => ask({ what: 'rename', tag })}
          >
            <IconPencil size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Delete ${tag.name}`}
            onClick={() => ask({ what: 'delete', tag })}
          >
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ) : (
        <Text span size="sm" c="dimmed" ml={6} title={FIXED}>
          Built in<VisuallyHidden>: {FIXED}</VisuallyHidden>
        </Text>
      ),
  };
}
