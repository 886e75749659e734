import { Button } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ListedUser } from '../../../../client/src/description.ts';
import { PERSON_STATES, personName, usePeople } from '../../queries/people.ts';
import { useCurrentRow, useRowShortcuts } from '../../components/current-row.ts';
import { EmptyState, NoResults } from '../../components/empty-state.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import type { FilterDefinition } from '../../components/filter-definition.ts';
import { ResultCount } from '../../components/result-count.tsx';
import { useOrganizationFilter } from '../../components/organization-filter.ts';
import { PersonLink } from '../../components/person-link.tsx';
import { PageLayout } from '../../components/page.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/table-column.ts';
import { Time } from '../../components/time.tsx';
import { StackedCell } from '../../components/stacked-cell.tsx';
import { currentUser } from '../../session/current-user.ts';
import { InvitePersonDialog } from './invite-person.tsx';
import { UserStateBadge } from './user-state-badge.tsx';
import { parsePeopleSearch } from './search.ts';
import { peopleMessages } from './messages.ts';

const messages = peopleMessages;

const STATE_FILTER: FilterDefinition = {
  name: 'state',
  label: 'State',
  options: PERSON_STATES.map((value) => ({
    value,
    label: (value[0]?.toUpperCase() ?? '') + value.slice(1),
  })),
};

const PEOPLE_COLUMNS: readonly Column<ListedUser>[] = [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(110px, 1fr)',
    cell: (person) => <PersonLink person={person} />,
    narrow: {
      cell: (person) => (
        <StackedCell secondary={<bdi>{person.email}</bdi>}>
          <PersonLink person={person} />
        </StackedCell>
      ),
    },
  },
  {
    id: 'email',
    header: 'E-mail',
    width: 'minmax(110px, 1.3fr)',
    minTableWidth: 560,
    cell: ({ email }) => <span title={email}>{email}</span>,
  },
  {
    id: 'organization',
    header: 'Organization',
    width: '120px',
    minTableWidth: 1000,
    cell: ({ organization_uid }) => organization_uid,
  },
  { id: 'state', header: 'State', width: '104px', cell: (person) => <UserStateBadge person={person} /> },
  {
    id: 'role',
    header: 'Role',
    width: '72px',
    minTableWidth: 440,
    cell: ({ admin }) => (admin === true ? 'Admin' : 'User'),
  },
  {
    id: 'factor',
    header: messages.secondFactor,
    width: '124px',
    minTableWidth: 860,
    cell: ({ second_factor }) => (second_factor === true ? 'On' : 'Off'),
  },
  {
    id: 'assessments',
    header: 'Assessments',
    width: '104px',
    minTableWidth: 760,
    cell: ({ admin, assessment_ids }) => (admin === true ? 'All' : (assessment_ids?.length ?? 0)),
  },
  {
    id: 'seen',
    header: messages.lastSeen,
    width: '124px',
    minTableWidth: 660,
    cell: ({ last_seen_at }) =>
      last_seen_at === null || last_seen_at === undefined ? 'Never' : <Time at={last_seen_at} />,
  },
];

/** The people of the organization; only for admins and staff. */
export function PeopleList() {
  const { data: who } = useQuery(currentUser);
  if (who !== undefined && who.admin !== true)
    return (
      <PageLayout title="People">
        <EmptyState title={messages.adminsOnly}>{messages.adminsOnlyHint}</EmptyState>
      </PageLayout>
    );
  return who === undefined ? null : <List />;
}

function List() {
  const search = useSearch({ from: '/people' });
  const navigate = useNavigate({ from: '/people' });
  const list = usePeople(search);
  const filters = [STATE_FILTER, ...useOrganizationFilter()];
  const rows = useCurrentRow(list);
  const { current, setCurrent } = rows;
  const [isInviting, setInviting] = useState(false);
  const filter = (change: Record<string, unknown>) => {
    setCurrent(undefined);
    void navigate({ search: (now) => parsePeopleSearch({ ...now, ...change }), replace: true });
  };
  const open = ({ id }: { id: number }) => void navigate({ to: '/people/$id', params: { id: String(id) } });
  useRowShortcuts(rows, {
    itemName: 'person',
    open: { run: open },
    shortcuts: { n: { label: 'Invite', run: () => setInviting(true) } },
  });
  const invite = (
    <Button size="xs" leftSection={<IconUserPlus size={14} aria-hidden />} onClick={() => setInviting(true)}>
      Invite
    </Button>
  );
  return (
    <PageLayout
      title="People"
      fillsHeight
      actions={
        <>
          <ResultCount list={list} />
          {invite}
        </>
      }
      toolbar={
        <FilterBar
          filters={filters}
          values={{
            state: search.state === undefined ? [] : [search.state],
            organization_uid: search.organization_uid ?? [],
          }}
          onChange={(name, next) =>
            // A person has only one state: the last selected value wins.
            filter({ [name]: name === 'state' ? next.at(-1) : next.length === 0 ? undefined : next })
          }
          search={search.search}
          searchLabel={messages.search}
          onSearch={(words) => filter({ search: words })}
        />
      }
    >
      <DataTable
        label="People"
        list={list}
        columns={PEOPLE_COLUMNS}
        rowId={({ id }) => String(id)}
        rowName={personName}
        current={current}
        onCurrent={setCurrent}
        onOpen={open}
        empty={
          Object.keys(search).length > 0 ? (
            <NoResults onClear={() => void navigate({ search: {} })} />
          ) : (
            <EmptyState title={messages.noPeople} action={invite}>
              {messages.noPeopleHint}
            </EmptyState>
          )
        }
      />
      {isInviting && <InvitePersonDialog onClose={() => setInviting(false)} />}
    </PageLayout>
  );
}
