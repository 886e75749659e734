import { Anchor, Button, Group, Menu, Select, Text, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { organizationsQuery } from '../../queries/organizations.ts';
import { listAddress } from '../../queries/vulnerabilities.ts';
import { type TagKind, type TagRow, type TagScope, useTags } from '../../queries/tags.ts';
import { useShortcuts } from '../../app/shortcuts.tsx';
import { NewButton } from '../../components/page-actions.tsx';
import { MoreMenu } from '../../components/more-menu.tsx';
import { TabLinks } from '../../components/tab-links.tsx';
import type { PagedList } from '../../queries/paged-list.ts';
import type { Organization } from '../../../../client/src/openapi-types.ts';
import { toOptions } from '../../components/filter-definition.ts';
import { EmptyState, NoResults } from '../../components/empty-state.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { PageLayout, ResultCount } from '../../components/page.tsx';
import { TagDot } from '../../components/identity-marks.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { type Column, StackedCell } from '../../components/table-column.tsx';
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
  if (user === undefined || organization === undefined) return <PageLayout title="Tags">{null}</PageLayout>;
  return (
    <Tags
      scope={{ kind, organizationUid: organization }}
      search={search}
      organizations={user.staff ? visibleOrganizations : []}
      onSearch={(change) =>
        void navigate({ search: (previous) => parseTagsSearch({ ...previous, ...change }), replace: true })
      }
      canEdit={
        kind === 'vulnerability'
          ? permissions.allows('triage') || permissions.isWithoutRole
          : kind === 'asset'
            ? tag
            : user.admin === true
      }
    />
  );
}

interface TagsProps {
  scope: TagScope;
  search: string;
  /** The organizations that staff can select. */
  organizations: readonly Organization[];
  onSearch: (change: TagsSearch) => void;
  canEdit: boolean;
}

function Tags({ scope, search, organizations, onSearch, canEdit }: TagsProps) {
  const { kind, organizationUid } = scope;
  const list = useTags(scope, search);
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  const create = () => setDialog({ kind: 'create' });
  useShortcuts(canEdit ? { n: { label: messages.newTag, run: create } } : {});
  const button = canEdit && <NewButton itemName="tag" onClick={create} />;
  return (
    <PageLayout
      title="Tags"
      fillsHeight
      tabs={
        <TabLinks
          label={messages.kind}
          tabs={KIND_OPTIONS.map(({ value, label }) => ({
            label,
            isCurrent: value === kind,
            search: (previous) => ({ ...previous, kind: value }),
          }))}
        />
      }
      actions={
        <>
          {organizations.length > 0 && (
            <Select
              size="xs"
              aria-label="Organization"
              searchable
              limit={50}
              allowDeselect={false}
              value={organizationUid}
              data={organizations.map(({ uid, name }) => ({ value: uid, label: name }))}
              onChange={(uid) => uid !== null && onSearch({ organization: uid })}
            />
          )}
          <ResultCount list={list} />
          {button}
        </>
      }
      toolbar={
        <FilterBar
          filters={[]}
          values={{}}
          onChange={() => undefined}
          search={search}
          onSearch={(text) => onSearch({ search: text })}
          searchLabel={messages.search}
        >
          {!canEdit && <DimmedText>{messages.readOnly[kind]}</DimmedText>}
        </FilterBar>
      }
    >
      <TagTable
        // Resets the current row.
        key={`${kind} ${organizationUid}`}
        kind={kind}
        list={list}
        onDialog={canEdit ? setDialog : undefined}
        empty={
          search !== '' ? (
            <NoResults onClear={() => onSearch({ search: '' })} label={messages.showAll} />
          ) : (
            <EmptyState title={messages.noTags} action={button}>
              {messages.noTagsHint[kind]}
            </EmptyState>
          )
        }
      />
      {dialog?.kind === 'create' && (
        <CreateTagDialog
          scope={scope}
          organizationId={organizations.find(({ uid }) => uid === organizationUid)?.id}
          onClose={close}
        />
      )}
      {dialog?.kind === 'rename' && <RenameTagDialog scope={scope} tag={dialog.tag} onClose={close} />}
      {dialog?.kind === 'delete' && <DeleteTagDialog scope={scope} tag={dialog.tag} onClose={close} />}
    </PageLayout>
  );
}

interface TagTableProps {
  kind: TagKind;
  list: PagedList<TagRow>;
  /** Undefined without permission to edit tags. */
  onDialog: ((dialog: OpenDialog) => void) | undefined;
  empty: ReactNode;
}

function TagTable({ kind, list, onDialog, empty }: TagTableProps) {
  const [current, setCurrent] = useState<number>();
  const columns = useMemo(() => columnsOf(kind, onDialog), [kind, onDialog]);
  return (
    <DataTable
      label={messages.listOf(kind)}
      list={list}
      columns={columns}
      rowHeight={52}
      rowId={({ key }) => key}
      rowName={({ name }) => name}
      current={current}
      onCurrent={setCurrent}
      empty={empty}
    />
  );
}

/** Links to the list of the objects with a tag. */
function TaggedLink({ kind, tag: { key, count } }: { kind: TagKind; tag: TagRow }) {
  const search = { tag_id: [Number(key)] };
  return (
    <Anchor
      inherit
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

function columnsOf(kind: TagKind, onDialog: TagTableProps['onDialog']): Column<TagRow>[] {
  const dot = ({ key, name }: TagRow) => <TagDot id={kind === 'asset' ? key : Number(key)} name={name} />;
  const usedOn = (tag: TagRow) => (tag.count === 0 ? messages.unused : <TaggedLink kind={kind} tag={tag} />);
  return [
    {
      id: 'name',
      header: 'Name',
      width: 'minmax(70px, 1fr)',
      cell: dot,
      narrow: { cell: (tag) => <StackedCell secondary={usedOn(tag)}>{dot(tag)}</StackedCell> },
    },
    { id: 'count', header: messages.usedOn, width: '132px', minTableWidth: 400, cell: usedOn },
    ...(onDialog === undefined ? [] : [actionsColumn(onDialog)]),
  ];
}

function actionsColumn(onDialog: (dialog: OpenDialog) => void): Column<TagRow> {
  return {
    id: 'actions',
    header: messages.actions,
    hidesHeader: true,
    width: '112px',
    isNumeric: true,
    cell: (tag) =>
      tag.editable ? (
        <Group gap={2} wrap="nowrap" justify="flex-end" className={classes.actions}>
          <Button
            size="xs"
            variant="subtle"
            color="gray"
            aria-label={messages.rename(tag.name)}
            onClick={() => onDialog({ kind: 'rename', tag })}
          >
            Rename
          </Button>
          <MoreMenu label={messages.more(tag.name)}>
            <Menu.Item color="red" onClick={() => onDialog({ kind: 'delete', tag })}>
              Delete
            </Menu.Item>
          </MoreMenu>
        </Group>
      ) : (
        <Text span size="sm" c="dimmed" title={messages.builtInHint}>
          {messages.builtIn}
          <VisuallyHidden>: {messages.builtInHint}</VisuallyHidden>
        </Text>
      ),
  };
}
