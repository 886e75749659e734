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
import { type TagKind, type TagRow, type TagScope, useTags } from '../../queries/tags.ts';
import { useShortcuts } from '../../app/shortcuts.tsx';
import { EmptyState, NoResults } from '../../components/empty-state.tsx';
import { NewButton } from '../../components/new-button.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { ResultCount } from '../../components/result-count.tsx';
import { PageLayout } from '../../components/page.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/table-column.ts';
import { currentUser } from '../../session/current-user.ts';
import { CreateTagDialog, DeleteTagDialog, RenameTagDialog, pluralizeTagged } from './tag-dialogs.tsx';
import { type TagsSearch, parseTagsSearch } from './search.ts';
import classes from './tag-list.module.css';

const KIND_LABELS: { value: TagKind; label: string }[] = [
  { value: 'vulnerability', label: 'Vulnerabilities' },
  { value: 'assessment', label: 'Assessments' },
  { value: 'asset', label: 'Assets' },
];

/** Why some cannot be changed by anybody. */
const BUILT_IN_TEXT = 'it stays as it is for the whole organization, so nobody can rename or delete it.';

/** Who changes those that one may not. */
const OTHERS: Readonly<Partial<Record<TagKind, string>>> = {
  assessment: 'Tags of assessments are made, renamed and deleted by admins.',
  asset: 'Your account may not make, rename or delete tags of assets.',
};

/** What one who has no tag yet is told. */
const EMPTY_TEXT: Readonly<Record<TagKind, string>> = {
  vulnerability: 'A tag groups vulnerabilities across assessments: by team, by cause, by customer.',
  assessment: 'A tag groups assessments: by quarter, by contract, by client.',
  asset: 'A tag groups assets: what faces the internet, what handles payment data.',
};

type OpenDialog = { what: 'create' } | { what: 'rename' | 'delete'; tag: TagRow };

/** The tags of vulnerabilities, assessments and assets. */
export function Tags() {
  const { kind = 'vulnerability', search = '', ...address } = useSearch({ from: '/tags' });
  const navigate = useNavigate({ from: '/tags' });
  const { data: who } = useQuery(currentUser);
  const { data: reached = [] } = useQuery({ ...organizations, enabled: who?.staff === true });
  const organization = who?.organization_uid ?? address.organization ?? reached[0]?.uid;
  const go = (change: TagsSearch) =>
    void navigate({ search: (now) => parseTagsSearch({ ...now, ...change }), replace: true });
  return (
    <PageLayout
      title="Tags"
      fillsHeight
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
      toolbar={
        <SegmentedControl
          className={classes.kinds}
          aria-label="Tags of"
          value={kind}
          data={KIND_LABELS}
          onChange={(next) => go({ kind: next as TagKind })}
        />
      }
    >
      {who !== undefined && organization !== undefined && (
        <TagTable
          key={`${kind} ${organization}`}
          scope={{ kind, organization }}
          organizationId={reached.find(({ uid }) => uid === organization)?.id}
          search={search}
          onSearch={(words) => go({ search: words })}
          canEdit={kind === 'vulnerability' || (kind === 'asset' ? canTag(who.scopes) : who.admin === true)}
        />
      )}
    </PageLayout>
  );
}

/** Whether any of the scopes writes tags of assets. */
const canTag = (scopes: readonly string[]) => scopes.some((scope) => /^tag_[gol]w$/.test(scope));

interface TagTableProps {
  scope: TagScope;
  /** For staff. */
  organizationId: number | undefined;
  search: string;
  onSearch: (search: string) => void;
  canEdit: boolean;
}

function TagTable({ scope: of, organizationId, search, onSearch, canEdit }: TagTableProps) {
  const { kind } = of;
  const list = useTags(of, search);
  const [current, setCurrent] = useState<number>();
  const [asked, setAsked] = useState<OpenDialog>();
  const close = () => setAsked(undefined);
  const columns = useMemo(() => columnsOf(kind, canEdit, setAsked), [kind, canEdit]);
  const create = () => canEdit && setAsked({ what: 'create' });
  useShortcuts(canEdit ? { n: { label: 'New tag', run: create } } : {});
  const button = <NewButton itemName="tag" onClick={create} />;
  return (
    <>
      <FilterBar
        filters={[]}
        values={{}}
        onChange={() => undefined}
        search={search}
        onSearch={onSearch}
        searchLabel="Search tags"
      >
        <Box ml="auto">
          <ResultCount list={list} />
        </Box>
        {canEdit && button}
      </FilterBar>
      {!canEdit && (
        <Text size="sm" c="dimmed">
          {OTHERS[kind]}
        </Text>
      )}
      <DataTable
        label={`Tags of ${KIND_LABELS.find(({ value }) => value === kind)?.label.toLowerCase()}`}
        list={list}
        columns={columns}
        rowId={({ key }) => key}
        rowName={({ name }) => name}
        current={current}
        onCurrent={setCurrent}
        empty={
          search !== '' ? (
            <NoResults onClear={() => onSearch('')} label="Show all tags" />
          ) : (
            <EmptyState title="No tags yet" action={canEdit && button}>
              {EMPTY_TEXT[kind]}
            </EmptyState>
          )
        }
      />
      {asked?.what === 'create' && (
        <CreateTagDialog scope={of} organizationId={organizationId} onClose={close} />
      )}
      {asked?.what === 'rename' && <RenameTagDialog scope={of} tag={asked.tag} onClose={close} />}
      {asked?.what === 'delete' && <DeleteTagDialog scope={of} tag={asked.tag} onClose={close} />}
    </>
  );
}

const LIST_PATHS = {
  vulnerability: '/vulnerabilities',
  assessment: '/assessments',
  asset: '/assets',
} as const;

/** @returns the address of the things with a tag, in their list */
function taggedSearch(kind: TagKind, key: string): Record<string, unknown> {
  return kind === 'asset' ? { tagUid: [key] } : { tag_id: [Number(key)] };
}

function columnsOf(kind: TagKind, may: boolean, ask: (asked: OpenDialog) => void): Column<TagRow>[] {
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
          <Anchor component={Link} to={LIST_PATHS[kind]} search={taggedSearch(kind, key) as never} size="sm">
            {pluralizeTagged(kind, count)}
          </Anchor>
        ),
    },
    ...(may ? [actionsColumn(ask)] : []),
  ];
}

function actionsColumn(ask: (asked: OpenDialog) => void): Column<TagRow> {
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
        <Text span size="sm" c="dimmed" ml={6} title={BUILT_IN_TEXT}>
          Built in<VisuallyHidden>: {BUILT_IN_TEXT}</VisuallyHidden>
        </Text>
      ),
  };
}
