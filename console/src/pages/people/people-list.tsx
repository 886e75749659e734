import { ActionIcon, Button, Group } from '@mantine/core';
import { IconSettings, IconShieldOff, IconUserPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ListedUser } from '../../../../client/src/openapi-types.ts';
import { personName, usePeople } from '../../queries/people.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { type FilterDefinition, useOrganizationFilter } from '../../components/filter-definition.ts';
import { type Column, RowLink, StackedCell } from '../../components/table-column.tsx';
import { PageLayout } from '../../components/page.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { OrganizationName, PersonMark } from '../../components/identity-marks.tsx';
import { Time } from '../../components/time.tsx';
import { currentUserQuery, useIsStaff } from '../../session/permissions.ts';
import { InvitePersonDialog } from './invite-person-dialog.tsx';
import { OrganizationSettingsDialog } from './organization-settings-dialog.tsx';
import { UserStateBadge } from './user-state-badge.tsx';
import { parsePeopleSearch, PERSON_STATES } from '../../app/search-params.ts';
import { peopleMessages } from './messages.ts';
import classes from './people-list.module.css';

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
    id: 'mark',
    header: messages.mark,
    width: '24px',
    hidesHeader: true,
    cell: (person) => <PersonMark person={person} />,
  },
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(110px, 1fr)',
    cell: (person) => (
      <StackedCell secondary={<bdi title={person.email}>{person.email}</bdi>}>
        <RowLink to={`/people/${person.id}`} title={personName(person)}>
          {personName(person)}
        </RowLink>
      </StackedCell>
    ),
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
    width: '148px',
    minTableWidth: 860,
    cell: ({ second_factor, invite_url }) =>
      second_factor === true || typeof invite_url === 'string' ? null : (
        <span className={classes.warning}>
          <IconShieldOff size={15} aria-hidden />
          {messages.noSecondFactor}
        </span>
      ),
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
    width: '136px',
    minTableWidth: 660,
    cell: ({ last_seen_at }) =>
      last_seen_at === null || last_seen_at === undefined ? (
        <span className={classes.never}>Never</span>
      ) : (
        <Time at={last_seen_at} />
      ),
  },
];

const ORGANIZATION_COLUMN: Column<ListedUser> = {
  id: 'organization',
  header: 'Organization',
  width: '148px',
  minTableWidth: 1000,
  cell: ({ organization_uid: uid }) => uid != null && <OrganizationName uid={uid} />,
};
/** Staff see the people of several organizations. */
const STAFF_COLUMNS = PEOPLE_COLUMNS.toSpliced(2, 0, ORGANIZATION_COLUMN);

/** The people of the organization; only for admins and staff. */
export function PeopleList() {
  const { data: user } = useQuery(currentUserQuery);
  if (user !== undefined && user.admin !== true)
    return (
      <PageLayout title="People">
        <EmptyState title={messages.adminsOnly}>{messages.adminsOnlyHint}</EmptyState>
      </PageLayout>
    );
  return user === undefined ? null : <List />;
}

function List() {
  const search = useSearch({ from: '/people' });
  const navigate = useNavigate({ from: '/people' });
  const list = usePeople(search);
  const isStaff = useIsStaff() === true;
  const filters = [STATE_FILTER, ...useOrganizationFilter()];
  const [isInviting, setInviting] = useState(false);
  const startInviting = () => setInviting(true);
  const [isConfiguring, setConfiguring] = useState(false);
  return (
    <ListPage
      title="People"
      itemName="person"
      list={list}
      columns={isStaff ? STAFF_COLUMNS : PEOPLE_COLUMNS}
      rowHeight={52}
      rowId={({ id }) => String(id)}
      rowName={personName}
      onOpen={({ id }) => void navigate({ to: '/people/$id', params: { id: String(id) } })}
      filters={filters}
      search={search}
      searchLabel={messages.search}
      onSearch={(change) =>
        void navigate({ search: (previous) => parsePeopleSearch({ ...previous, ...change }), replace: true })
      }
      onClear={() => void navigate({ search: {} })}
      create={{
        label: 'Invite',
        button: (
          <Group gap="xs" wrap="nowrap">
            <ActionIcon
              variant="default"
              size={32}
              aria-label={messages.organization.title}
              title={messages.organization.title}
              onClick={() => setConfiguring(true)}
            >
              <IconSettings size={16} aria-hidden />
            </ActionIcon>
            <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={startInviting}>
              Invite
            </Button>
          </Group>
        ),
        run: startInviting,
      }}
      empty={{ title: messages.noPeople, hint: messages.noPeopleHint }}
    >
      {isInviting && <InvitePersonDialog onClose={() => setInviting(false)} />}
      {isConfiguring && <OrganizationSettingsDialog onClose={() => setConfiguring(false)} />}
    </ListPage>
  );
}
