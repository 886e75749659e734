import { ActionIcon, Stack, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useMemo } from 'react';
import type { User } from '../../../../client/src/description.ts';
import { useAccess, useUpdateAccess } from '../../queries/assessment-access.ts';
import type { Assessment } from '../../queries/client.ts';
import { findPeople, personName } from '../../queries/people.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { PersonLink } from '../../components/person-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/table-column.ts';
import { StackedCell } from '../../components/stacked-cell.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { accessMessages as messages } from './messages.ts';
import classes from './assessment-page.module.css';

/** Grants and removes access to an assessment (operation 40). */
export function AccessTab({ assessment }: { assessment: Assessment }) {
  const { uid, organization_uid } = assessment;
  const list = useAccess(uid);
  const { mutate, isPending } = useUpdateAccess(uid);
  const columns = useMemo(
    (): readonly Column<User>[] => [
      {
        id: 'name',
        header: 'Name',
        width: 'minmax(100px, 1fr)',
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
        header: 'Email',
        width: 'minmax(100px, 1fr)',
        minTableWidth: 480,
        cell: ({ email }) => <span title={email}>{email}</span>,
      },
      {
        id: 'state',
        header: 'State',
        width: '90px',
        minTableWidth: 600,
        cell: ({ banned, invite_url }) => (banned ? 'Banned' : invite_url == null ? 'Active' : 'Invited'),
      },
      {
        id: 'actions',
        header: 'Actions',
        width: '76px',
        cell: (person) => (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={messages.removeAccess(personName(person))}
            onClick={() => mutate({ person, hasAccess: false })}
          >
            <IconX size={16} />
          </ActionIcon>
        ),
      },
    ],
    [mutate],
  );
  return (
    <Stack gap="sm">
      <AsyncSelect
        label={messages.grant}
        maw={480}
        placeholder={messages.placeholder}
        optionsKey={['people', organization_uid]}
        loadOptions={async (search, signal) =>
          (await findPeople(search, signal, organization_uid)).map((person) => ({
            value: String(person.id),
            label: person.name == null ? person.email : `${person.name} (${person.email})`,
          }))
        }
        value={null}
        disabled={isPending}
        clearsOnSelect
        onChange={(person) =>
          person !== null &&
          mutate({ person: { id: Number(person.value), email: person.label }, hasAccess: true })
        }
      />
      <Text size="xs" c="dimmed">
        {messages.hint}
      </Text>
      <div className={classes.table}>
        <DataTable
          label={messages.tableLabel}
          list={list}
          columns={columns}
          rowId={({ id }) => String(id)}
          rowName={personName}
          empty={<EmptyState title={messages.emptyTitle}>{messages.emptyHint}</EmptyState>}
        />
      </div>
    </Stack>
  );
}
