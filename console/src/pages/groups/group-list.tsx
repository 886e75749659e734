import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { AssessmentGroup } from '../../queries/client.ts';
import { shownMembersQuery, useGroups } from '../../queries/groups.ts';
import { useOrganizationFilter } from '../../components/filter-definition.ts';
import { ListPage } from '../../components/list-page.tsx';
import { type Column, RowLink, StackedCell } from '../../components/table-column.tsx';
import { Time } from '../../components/time.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import { GroupFormDialog } from './group-form-dialog.tsx';
import { parseGroupSearch } from '../../app/search-params.ts';
import { MemberMark } from './member-mark.tsx';
import classes from './group-list.module.css';
import { groupMessages } from './messages.ts';

const messages = groupMessages.members;

const GROUP_COLUMNS: readonly Column<AssessmentGroup>[] = [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(120px, 1fr)',
    cell: ({ id, name, description }) => (
      <StackedCell secondary={<span title={description}>{description}</span>}>
        <RowLink to={`/groups/${id}`} title={name}>
          {name}
        </RowLink>
      </StackedCell>
    ),
  },
  {
    id: 'members',
    header: 'Members',
    width: '168px',
    cell: (group) => <Members group={group} />,
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

/** The first members as circles, and the number of the others. */
function Members({ group: { id, member_count: total } }: { group: AssessmentGroup }) {
  const { data = [] } = useQuery({ ...shownMembersQuery(id), enabled: total > 0 });
  return (
    <span className={classes.marks} title={messages.count(total)}>
      {data.map((member) => (
        <MemberMark key={member.id} member={member} />
      ))}
      {total > data.length && messages.more(total - data.length)}
    </span>
  );
}

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
      rowHeight={52}
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
