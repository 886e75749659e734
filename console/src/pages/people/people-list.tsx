import { Button } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ListedUser } from '../../../../client/src/description.ts';
import { PERSON_STATES, personName, usePeople } from '../../queries/people.ts';
import { useCurrentRow, useRowKeys } from '../../components/current-row.ts';
import { Empty, NoneMatch } from '../../components/empty-state.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import type { FilterKind } from '../../components/filter-definition.ts';
import { Found } from '../../components/result-count.tsx';
import { useOrganizationKind } from '../../components/organization-filter.ts';
import { PersonLink } from '../../components/person-link.tsx';
import { Place } from '../../components/page.tsx';
import { RowsTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/table-column.ts';
import { Time } from '../../components/time.tsx';
import { TwoLines } from '../../components/stacked-cell.tsx';
import { whoAmI } from '../../session/current-user.ts';
import { InvitePerson } from './invite-person.tsx';
import { PersonMark } from './user-state-badge.tsx';
import { peopleSearchOf } from './search.ts';

const STATE: FilterKind = {
  name: 'state',
  label: 'State',
  options: PERSON_STATES.map((value) => ({
    value,
    label: (value[0]?.toUpperCase() ?? '') + value.slice(1),
  })),
};

const COLUMNS: readonly Column<ListedUser>[] = [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(110px, 1fr)',
    cell: (person) => <PersonLink person={person} />,
    narrow: {
      cell: (person) => (
        <TwoLines second={<bdi>{person.email}</bdi>}>
          <PersonLink person={person} />
        </TwoLines>
      ),
    },
  },
  {
    id: 'email',
    header: 'Address',
    width: 'minmax(110px, 1.3fr)',
    from: 560,
    cell: ({ email }) => <span title={email}>{email}</span>,
  },
  {
    id: 'organization',
    header: 'Organization',
    width: '120px',
    from: 1000,
    cell: ({ organization_uid }) => organization_uid,
  },
  { id: 'state', header: 'State', width: '104px', cell: (person) => <PersonMark person={person} /> },
  {
    id: 'role',
    header: 'Role',
    width: '72px',
    from: 440,
    cell: ({ admin }) => (admin === true ? 'Admin' : 'User'),
  },
  {
    id: 'factor',
    header: 'Second factor',
    width: '124px',
    from: 860,
    cell: ({ second_factor }) => (second_factor === true ? 'On' : 'Off'),
  },
  {
    id: 'assessments',
    header: 'Assessments',
    width: '104px',
    from: 760,
    cell: ({ admin, assessment_ids }) => (admin === true ? 'All' : (assessment_ids?.length ?? 0)),
  },
  {
    id: 'seen',
    header: 'Last seen',
    width: '124px',
    from: 660,
    cell: ({ last_seen_at }) =>
      last_seen_at === null || last_seen_at === undefined ? 'Never' : <Time at={last_seen_at} />,
  },
];

/** The people of the organization, for its admins and for staff. */
export function PeopleList() {
  const { data: who } = useQuery(whoAmI);
  if (who !== undefined && who.admin !== true)
    return (
      <Place title="People">
        <Empty title="This is for admins">An admin of your organization can invite and ban people.</Empty>
      </Place>
    );
  return who === undefined ? null : <List />;
}

function List() {
  const search = useSearch({ from: '/people' });
  const navigate = useNavigate({ from: '/people' });
  const list = usePeople(search);
  const kinds = [STATE, ...useOrganizationKind()];
  const rows = useCurrentRow(list);
  const { current, setCurrent } = rows;
  const [invites, setInvites] = useState(false);
  const filter = (change: Record<string, unknown>) => {
    setCurrent(undefined);
    void navigate({ search: (now) => peopleSearchOf({ ...now, ...change }), replace: true });
  };
  const open = ({ id }: { id: number }) => void navigate({ to: '/people/$id', params: { id: String(id) } });
  useRowKeys(rows, {
    noun: 'person',
    open: { run: open },
    others: { n: { label: 'Invite', run: () => setInvites(true) } },
  });
  const invite = (
    <Button size="xs" leftSection={<IconUserPlus size={14} aria-hidden />} onClick={() => setInvites(true)}>
      Invite
    </Button>
  );
  return (
    <Place
      title="People"
      fills
      actions={
        <>
          <Found list={list} />
          {invite}
        </>
      }
      tools={
        <FilterBar
          kinds={kinds}
          values={{
            state: search.state === undefined ? [] : [search.state],
            organization_uid: search.organization_uid ?? [],
          }}
          onChange={(name, next) =>
            // Somebody is in one state.
            filter({ [name]: name === 'state' ? next.at(-1) : next.length === 0 ? undefined : next })
          }
          search={search.search}
          searchLabel="Search names and addresses"
          onSearch={(words) => filter({ search: words })}
        />
      }
    >
      <RowsTable
        label="People"
        list={list}
        columns={COLUMNS}
        rowId={({ id }) => String(id)}
        rowName={personName}
        current={current}
        onCurrent={setCurrent}
        onOpen={open}
        empty={
          Object.keys(search).length > 0 ? (
            <NoneMatch onClear={() => void navigate({ search: {} })} />
          ) : (
            <Empty title="Nobody is here yet" action={invite}>
              Invite the people who test and those who fix. Each gets a link by which they choose how to sign
              in.
            </Empty>
          )
        }
      />
      {invites && <InvitePerson onClose={() => setInvites(false)} />}
    </Place>
  );
}
