import { Stack } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useMemo } from 'react';
import type { User } from '../../../../client/src/openapi-types.ts';
import { useAccess, useUpdateAccess } from '../../queries/assessments.ts';
import type { Assessment } from '../../queries/client.ts';
import { findPeople, personLabel, personName } from '../../queries/people.ts';
import { IconAction } from '../../components/page-actions.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { personNameColumn, type Column } from '../../components/table-column.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { accessMessages as messages } from './messages.ts';
import classes from './assessment-page.module.css';

/** Grants and removes access to an assessment (operation 40). */
export function AccessTab({ assessment }: { assessment: Assessment }) {
  const { uid, organization_uid } = assessment;
  const list = useAccess(uid);
  const { mutate, isPending } = useUpdateAccess(uid);
  const columns = useMemo(
    (): readonly Column<User>[] => [
      personNameColumn('minmax(100px, 1fr)'),
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
          <IconAction
            label={messages.removeAccess(personName(person))}
            icon={IconX}
            onClick={() => mutate({ person, hasAccess: false })}
          />
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
            label: personLabel(person),
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
      <DimmedText size="xs">{messages.hint}</DimmedText>
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
