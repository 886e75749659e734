import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { AssessmentGroup } from '../../queries/client.ts';
import { useGroups } from '../../queries/groups.ts';
import { useOrganizationFilter } from '../../components/filter-definition.ts';
import { ListPage } from '../../components/list-page.tsx';
import { type Column, RowLink } from '../../components/table-column.tsx';
import { Time } from '../../components/time.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import { GroupFormDialog } from './group-form-dialog.tsx';
import { parseGroupSearch } from '../../app/search-params.ts';
import { groupMessages } from './messages.ts';

const GROUP_COLUMNS: readonly Column<AssessmentGroup>[] = [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(120px, 2fr)',
    cell: ({ id, name }) => (
      <RowLink to={`/groups/${id}`} title={name}>
        {name}
      </RowLink>
    ),
  },
  {
    id: 'description',
    header: 'Description',
    width: 'minmax(100px, 3fr)',
    minTableWidth: 700,
    cell: ({ description }) => <span title={description}>{description}</span>,
  },
  {
    id: 'members',
    header: 'Members',
    width: '80px',
    cell: ({ member_count }) => member_count.toLocaleString(),
  },
  {
    id: 'assessments',
    header: 'Assessments',
    width: '104px',
    minTableWidth: 420,
    cell: ({ id, assessment_count }) => (
      <Anchor
        size="sm"
        renderRoot={(props) => <Link to="/assessments" search={{ assessment_group_id: id }} {...props} />}
      >
        {assessment_count.toLocaleString()}
      </Anchor>
    ),
  },
  {
    id: 'created',
    header: 'Created',
    width: '136px',
    minTableWidth: 560,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

/** The list of assessment groups. */
export function GroupList() {
  const search = useSearch({ from: '/groups' });
  const navigate = useNavigate({ from: '/groups' });
  const list = useGroups(search);
  const filters = useOrganizationFilter();
  const { data: user } = useQuery(currentUserQuery);
  const isAdmin = user?.admin === true;
  const [isCreating, setCreating] = useState(false);
  const open = ({ id }: AssessmentGroup) => void navigate({ to: '/groups/$id', params: { id: String(id) } });
  return (
    <ListPage
      title="Groups"
      itemName="group"
      list={list}
      columns={GROUP_COLUMNS}
      rowId={({ id }) => String(id)}
      rowName={({ name }) => name}
      onOpen={open}
      filters={filters}
      search={search}
      searchLabel={groupMessages.search}
      onSearch={(change) =>
        void navigate({ search: (previous) => parseGroupSearch({ ...previous, ...change }), replace: true })
      }
      onClear={() => void navigate({ search: {} })}
      create={isAdmin ? { label: groupMessages.newGroup, run: () => setCreating(true) } : undefined}
      empty={{
        title: groupMessages.noGroups,
        hint: isAdmin ? groupMessages.noGroupsForAdmins : groupMessages.noGroupsForMembers,
      }}
    >
      {isCreating && <GroupFormDialog onClose={() => setCreating(false)} onSaved={open} />}
    </ListPage>
  );
}
