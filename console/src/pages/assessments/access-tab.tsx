import { Group, NativeSelect, Stack } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQueries } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { AssessmentUser } from '../../../../client/src/openapi-types.ts';
import {
  ACCESS_ROLES,
  type AccessRole,
  ROLE_LABELS,
  useAccess,
  useUpdateAccess,
} from '../../queries/assessments.ts';
import type { Assessment } from '../../queries/client.ts';
import { groupQuery } from '../../queries/groups.ts';
import { findPeople, personLabel, personName } from '../../queries/people.ts';
import { IconAction } from '../../components/page-actions.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { personNameColumn, type Column } from '../../components/table-column.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { accessMessages as messages } from './messages.ts';
import classes from './assessment-page.module.css';

const ROLE_OPTIONS = ACCESS_ROLES.map((role) => ({ value: role, label: ROLE_LABELS[role] }));

/** The role by name; `null` if the user has access by group only. */
const roleByName = ({ role, via }: AssessmentUser): AccessRole | null =>
  via.includes('name') ? (ACCESS_ROLES.find((one) => one === role) ?? null) : null;

/** Gives access to an assessment by name with a role, and takes it away (operation 40). */
export function AccessTab({ assessment }: { assessment: Assessment }) {
  const { uid, organization_uid } = assessment;
  const list = useAccess(uid);
  const { mutate, isPending } = useUpdateAccess(uid);
  const [newRole, setNewRole] = useState<AccessRole>('assessment_member');
  const columns = useMemo(
    (): readonly Column<AssessmentUser>[] => [
      personNameColumn('minmax(90px, 1fr)'),
      {
        id: 'email',
        header: 'Email',
        width: 'minmax(100px, 1fr)',
        minTableWidth: 700,
        cell: ({ email }) => <span title={email}>{email}</span>,
      },
      {
        id: 'role',
        header: messages.role,
        width: '172px',
        cell(person) {
          const previous = roleByName(person);
          if (previous === null) return ROLE_LABELS[person.role];
          return (
            <NativeSelect
              size="xs"
              aria-label={messages.roleOf(personName(person))}
              data={ROLE_OPTIONS}
              value={previous}
              onChange={(event) =>
                mutate({ person, role: event.currentTarget.value as AccessRole, previous })
              }
            />
          );
        },
      },
      {
        id: 'via',
        header: 'Access',
        width: 'minmax(90px, 1fr)',
        minTableWidth: 560,
        cell: ({ via }) => <Via via={via} />,
      },
      {
        id: 'state',
        header: 'State',
        width: '90px',
        minTableWidth: 840,
        cell: ({ banned, invite_url }) => (banned ? 'Banned' : invite_url == null ? 'Active' : 'Invited'),
      },
      {
        id: 'actions',
        header: 'Actions',
        width: '76px',
        cell(person) {
          const previous = roleByName(person);
          return (
            previous !== null && (
              <IconAction
                label={messages.removeAccess(personName(person))}
                icon={IconX}
                onClick={() => mutate({ person, role: null, previous })}
              />
            )
          );
        },
      },
    ],
    [mutate],
  );
  return (
    <Stack gap="sm">
      <Group gap="sm" align="end">
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
            mutate({
              person: { id: Number(person.value), email: person.label },
              role: newRole,
              previous: null,
            })
          }
        />
        <NativeSelect
          label={messages.newRole}
          data={ROLE_OPTIONS}
          value={newRole}
          onChange={(event) => setNewRole(event.currentTarget.value as AccessRole)}
        />
      </Group>
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

/** What gives a user access: their name, and groups. */
function Via({ via }: { via: AssessmentUser['via'] }) {
  const ids = via.map(Number).filter((id) => !Number.isNaN(id));
  const groups = useQueries({ queries: ids.map(groupQuery) });
  const names = ids.map((id, index) => groups[index]?.data?.name ?? messages.group(id));
  const text =
    names.length === 0
      ? messages.byName
      : via.includes('name')
        ? messages.byNameAndGroups(names)
        : messages.byGroups(names);
  return <span title={text}>{text}</span>;
}
