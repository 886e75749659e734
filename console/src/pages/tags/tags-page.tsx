import { Anchor, Box, Group, SegmentedControl, Select, Text, VisuallyHidden } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { organizationsQuery } from '../../queries/organizations.ts';
import { listAddress } from '../../queries/vulnerabilities.ts';
import { type TagKind, type TagRow, type TagScope, useTags } from '../../queries/tags.ts';
import { useShortcuts } from '../../app/shortcuts.tsx';
import { IconAction, NewButton } from '../../components/page-actions.tsx';
import { toOptions } from '../../components/filter-definition.ts';
import { EmptyState, NoResults } from '../../components/empty-state.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { PageBar, PageLayout, ResultCount } from '../../components/page.tsx';
import { TagDot } from '../../components/identity-marks.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/table-column.tsx';
import { currentUserQuery, useAssetPermissions, usePermissions } from '../../session/permissions.ts';
import { CreateTagDialog, DeleteTagDialog, RenameTagDialog } from './tag-dialogs.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { type TagsSearch, parseTagsSearch } from '../../app/search-params.ts';
import classes from './tags-page.module.css';
import { tagMessages } from './messages.ts';

const messages = tagMessages;

const KIND_OPTIONS = toOptions(messages.kinds);

type OpenDialog = { kind: 'create' } | { kind: 'rename' | 'delete'; tag: TagRow };

/** The tags page: one list per kind of object. */
export function TagsPage() {
  const { kind = 'vulnerability', search = '', ...params } = useSearch({ from: '/tags' });
  const navigate = useNavigate({ from: '/tags' });
  const { data: user } = useQuery(currentUserQuery);
  const permissions = usePermissions();
  const { tag } = useAssetPermissions();
  const { data: visibleOrganizations = [] } = useQuery({
    ...organizationsQuery,
    enabled: user?.staff === true,
  });
  const organization = user?.organization_uid ?? params.organization ?? visibleOrganizations[0]?.uid;
  const changeSearch = (change: TagsSearch) =>
    void navigate({ search: (previous) => parseTagsSearch({ ...previous, ...change }), replace: true });
  return (
    <PageLayout
      title="Tags"
      fillsHeight
      actions={
        user?.staff === true && (
          <Select
            size="xs"
            aria-label="Organization"
            searchable
            limit={50}
            allowDeselect={false}
            value={organization ?? null}
            data={visibleOrganizations.map(({ uid, name }) => ({ value: uid, label: name }))}
            onChange={(uid) => uid !== null && changeSearch({ organization: uid })}
          />
        )
      }
      toolbar={
        <SegmentedControl
          className={classes.kinds}
          aria-label={messages.kind}
          value={kind}
          data={KIND_OPTIONS}
          onChange={(next) => changeSearch({ kind: next as TagKind })}
        />
      }
    >
      {user !== undefined && organization !== undefined && (
        <TagTable
          key={`${kind} ${organization}`}
          scope={{ kind, organizationUid: organization }}
          organizationId={visibleOrganizations.find(({ uid }) => uid === organization)?.id}
          search={search}
          onSearch={(text) => changeSearch({ search: text })}
          canEdit={
            kind === 'vulnerability'
              ? permissions.allows('triage') || permissions.isWithoutRole
              : kind === 'asset'
                ? tag
                : user.admin === true
          }
        />
      )}
    </PageLayout>
  );
}

interface TagTableProps {
  scope: TagScope;
  /** Set by staff. */
  organizationId: number | undefined;
  search: string;
  onSearch: (search: string) => void;
  canEdit: boolean;
}

function TagTable({ scope, organizationId, search, onSearch, canEdit }: TagTableProps) {
  const { kind } = scope;
  const list = useTags(scope, search);
  const [current, setCurrent] = useState<number>();
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  const columns = useMemo(() => columnsOf(kind, canEdit, setDialog), [kind, canEdit]);
  const create = () => canEdit && setDialog({ kind: 'create' });
  useShortcuts(canEdit ? { n: { label: messages.newTag, run: create } } : {});
  const button = <NewButton itemName="tag" onClick={create} />;
  return (
    <>
      <PageBar>
        <FilterBar
          filters={[]}
          values={{}}
          onChange={() => undefined}
          search={search}
          onSearch={onSearch}
          searchLabel={messages.search}
        >
          <Box ml="auto">
            <ResultCount list={list} />
          </Box>
          {canEdit && button}
        </FilterBar>
        {!canEdit && <DimmedText mt="xs">{messages.readOnly[kind]}</DimmedText>}
      </PageBar>
      <DataTable
        label={messages.listOf(kind)}
        list={list}
        columns={columns}
        rowId={({ key }) => key}
        rowName={({ name }) => name}
        current={current}
        onCurrent={setCurrent}
        empty={
          search !== '' ? (
            <NoResults onClear={() => onSearch('')} label={messages.showAll} />
          ) : (
            <EmptyState title={messages.noTags} action={canEdit && button}>
              {messages.noTagsHint[kind]}
            </EmptyState>
          )
        }
      />
      {dialog?.kind === 'create' && (
        <CreateTagDialog scope={scope} organizationId={organizationId} onClose={close} />
      )}
      {dialog?.kind === 'rename' && <RenameTagDialog scope={scope} tag={dialog.tag} onClose={close} />}
      {dialog?.kind === 'delete' && <DeleteTagDialog scope={scope} tag={dialog.tag} onClose={close} />}
    </>
  );
}

/** Links to the list of the objects with a tag. */
function TaggedLink({ kind, tag: { key, count } }: { kind: TagKind; tag: TagRow }) {
  const search = { tag_id: [Number(key)] };
  return (
    <Anchor
      size="sm"
      renderRoot={(props) =>
        kind === 'asset' ? (
          <Link to="/assets" search={{ tagUid: [key] }} {...props} />
        ) : kind === 'assessment' ? (
          <Link to="/assessments" search={search} {...props} />
        ) : (
          <Link to="/vulnerabilities" search={listAddress(search)} {...props} />
        )
      }
    >
      {messages.tagged(kind, count)}
    </Anchor>
  );
}

function columnsOf(
  kind: TagKind,
  canEdit: boolean,
  openDialog: (dialog: OpenDialog) => void,
): Column<TagRow>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      width: 'minmax(70px, 1fr)',
      cell: ({ key, name }) => <TagDot id={kind === 'asset' ? key : Number(key)} name={name} />,
    },
    {
      id: 'count',
      header: messages.usedOn,
      width: '132px',
      cell: (tag) =>
        tag.count === 0 ? (
          <Text span size="sm" c="dimmed">
            Nothing
          </Text>
        ) : (
          <TaggedLink kind={kind} tag={tag} />
        ),
    },
    ...(canEdit ? [actionsColumn(openDialog)] : []),
  ];
}

function actionsColumn(openDialog: (dialog: OpenDialog) => void): Column<TagRow> {
  return {
    id: 'actions',
    header: 'Change',
    width: '72px',
    cell: (tag) =>
      tag.editable ? (
        <Group gap={2} wrap="nowrap">
          <IconAction
            label={messages.rename(tag.name)}
            icon={IconPencil}
            onClick={() => openDialog({ kind: 'rename', tag })}
          />
          <IconAction
            label={messages.remove(tag.name)}
            icon={IconTrash}
            onClick={() => openDialog({ kind: 'delete', tag })}
          />
        </Group>
      ) : (
        <Text span size="sm" c="dimmed" ml={6} title={messages.builtInHint}>
          {messages.builtIn}
          <VisuallyHidden>: {messages.builtInHint}</VisuallyHidden>
        </Text>
      ),
  };
}
