import { Anchor, Button, Chip, Group, Loader, Menu, Text } from '@mantine/core';
import { IconPencil, IconTrash, IconUserPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { GroupMember } from '../../../../client/src/description.ts';
import type { AssessmentGroup } from '../../queries/client.ts';
import { type GroupRole, memberCounts, roleName, ROLES, useMembers } from '../../queries/group-members.ts';
import { group as groupQuery, useGroupChanges } from '../../queries/groups.ts';
import { counted, noun } from '../../components/pluralize.ts';
import { Empty } from '../../components/empty-state.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.tsx';
import { Place } from '../../components/page.tsx';
import { RowsTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/table-column.ts';
import { Time } from '../../components/time.tsx';
import { TwoLines } from '../../components/stacked-cell.tsx';
import { whoAmI } from '../../session/current-user.ts';
import { AddMembers } from './add-members.tsx';
import { GroupForm } from './group-form.tsx';
import classes from './group-page.module.css';
import { MemberBatch, type Wanted } from './bulk-member-dialog.tsx';
import { groupRoleOf } from './search.ts';

const MarkdownText = lazy(() => import('../../components/markdown.tsx'));

const nameOf = ({ userName, userEmail, userUid }: GroupMember) => userName ?? userEmail ?? userUid;

const COLUMNS: readonly Column<GroupMember>[] = [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(100px, 1fr)',
    cell: (member) => <span title={nameOf(member)}>{nameOf(member)}</span>,
    narrow: {
      cell: (member) => <TwoLines second={<bdi>{member.userEmail}</bdi>}>{nameOf(member)}</TwoLines>,
    },
  },
  {
    id: 'email',
    header: 'Address',
    width: 'minmax(100px, 1fr)',
    from: 560,
    cell: ({ userEmail }) => <span title={userEmail}>{userEmail}</span>,
  },
  {
    id: 'role',
    header: 'Role',
    width: '150px',
    cell: ({ role }) => roleName(role),
    narrow: { width: '108px', cell: ({ role }) => <span title={roleName(role)}>{roleName(role)}</span> },
  },
  {
    id: 'since',
    header: 'Since',
    width: '120px',
    from: 700,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];

/** One group: its members by role, who comes and who goes. */
export function GroupPage() {
  const { id } = useParams({ from: '/groups/$id' });
  const { data, error } = useQuery(groupQuery(Number(id)));
  if (error !== null || data === undefined)
    return (
      <Place title="Group">
        {error === null ? (
          <Loader size="sm" />
        ) : (
          <Empty title="This could not be read">{errorText(error)}</Empty>
        )}
      </Place>
    );
  return <Shown key={id} group={data} />;
}

function Shown({ group }: { group: AssessmentGroup & { version: string } }) {
  const { data: who } = useQuery(whoAmI);
  const isAdmin = who?.admin === true;
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const close = () => setDialog(undefined);
  return (
    <Place
      fills
      title={group.name}
      actions={
        isAdmin && (
          <>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPencil size={14} aria-hidden />}
              onClick={() => setDialog('edit')}
            >
              Edit
            </Button>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconTrash size={14} aria-hidden />}
              onClick={() => setDialog('delete')}
            >
              Delete
            </Button>
          </>
        )
      }
    >
      {group.description !== '' && (
        <Text component="div" size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Suspense fallback={<Loader size="sm" />}>
            <MarkdownText>{group.description}</MarkdownText>
          </Suspense>
        </Text>
      )}
      <Text size="sm">
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link to="/assessments" search={{ assessment_group_id: group.id }} {...props} />
          )}
        >
          {counted(group.assessment_count, 'assessment')}
        </Anchor>{' '}
        of {group.organization_uid}
      </Text>
      <Members id={group.id} organization={group.organization_uid} />
      {dialog === 'edit' && <GroupForm group={group} onClose={close} />}
      {dialog === 'delete' && <DeleteGroup group={group} onClose={close} />}
    </Place>
  );
}

function DeleteGroup({ group, onClose }: { group: AssessmentGroup; onClose: () => void }) {
  const { remove } = useGroupChanges();
  const navigate = useNavigate();
  return (
    <FormDialog
      title="Delete the group"
      save="Delete"
      grave
      busy={remove.isPending}
      error={remove.error === null ? undefined : errorText(remove.error)}
      onClose={onClose}
      onSave={() => remove.mutate(group, { onSuccess: () => void navigate({ to: '/groups' }) })}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        <b>{group.name}</b> goes for good: {counted(group.member_count, 'membership')}{' '}
        {noun(group.member_count, 'ends', 'end')}, and {counted(group.assessment_count, 'assessment')}{' '}
        {noun(group.assessment_count, 'stays', 'stay')} without a group. This cannot be undone.
      </Text>
    </FormDialog>
  );
}

function Members({ id, organization }: { id: number; organization: string }) {
  const { role } = useSearch({ from: '/groups/$id' });
  const navigate = useNavigate({ from: '/groups/$id' });
  const list = useMembers(id, role);
  const { data: counts } = useQuery(memberCounts(id));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [adds, setAdds] = useState(false);
  const [batch, setBatch] = useState<Wanted>();
  const mayChange = counts?.mayRemove === true;
  const chosenPeople = () => {
    const found: GroupMember[] = [];
    for (let index = 0; index < list.loaded; index += 1) {
      const row = list.at(index);
      if (row !== undefined && chosen.has(row.userUid)) found.push(row);
    }
    return found.map((member) => ({ userUid: member.userUid, name: nameOf(member), role: member.role }));
  };
  const show = (next: GroupRole | '') => {
    setChosen(new Set());
    void navigate({ search: groupRoleOf({ role: next }), params: { id: String(id) }, replace: true });
  };
  const add = counts?.mayAdd === true && (
    <Button size="xs" leftSection={<IconUserPlus size={14} aria-hidden />} onClick={() => setAdds(true)}>
      Add people
    </Button>
  );
  return (
    <>
      <Group justify="space-between" className={classes.chosen}>
        {chosen.size > 0 ? (
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {chosen.size.toLocaleString()} chosen
            </Text>
            <Menu position="bottom-start">
              <Menu.Target>
                <Button size="compact-sm" variant="light">
                  Role
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                {ROLES.map(({ value, label }) => (
                  <Menu.Item
                    key={value}
                    onClick={() => setBatch({ kind: 'role', role: value, people: chosenPeople() })}
                  >
                    {label}
                  </Menu.Item>
                ))}
              </Menu.Dropdown>
            </Menu>
            <Button
              size="compact-sm"
              variant="light"
              onClick={() => setBatch({ kind: 'remove', people: chosenPeople() })}
            >
              Remove
            </Button>
            <Button size="compact-sm" variant="subtle" onClick={() => setChosen(new Set())}>
              Choose none
            </Button>
          </Group>
        ) : (
          <Chip.Group value={role ?? ''} onChange={(value) => show(value as GroupRole | '')}>
            <Group gap={6} role="radiogroup" aria-label="Role">
              <Chip size="xs" variant="outline" value="">
                All ({(counts?.total ?? 0).toLocaleString()})
              </Chip>
              {ROLES.filter(({ value }) => value === role || (counts?.byRole.get(value) ?? 0) > 0).map(
                ({ value, label, does }) => (
                  <Chip key={value} size="xs" variant="outline" value={value} title={does}>
                    {label} ({(counts?.byRole.get(value) ?? 0).toLocaleString()})
                  </Chip>
                ),
              )}
            </Group>
          </Chip.Group>
        )}
        {(counts?.total ?? 0) > 0 && add}
      </Group>
      <div className={classes.table}>
        <RowsTable
          label="Members"
          list={list}
          columns={COLUMNS}
          rowId={({ userUid }) => userUid}
          rowName={nameOf}
          {...(mayChange ? { choice: { chosen, onChange: setChosen } } : {})}
          empty={
            <Empty title={role === undefined ? 'No members yet' : 'Nobody has this role'} action={add}>
              {counts?.mayAdd === true
                ? 'Add people by searching them, or by pasting a list of addresses.'
                : 'Who looks after the group can add people.'}
            </Empty>
          }
        />
      </div>
      {adds && <AddMembers id={id} organization={organization} onClose={() => setAdds(false)} />}
      {batch !== undefined && (
        <MemberBatch
          id={id}
          wanted={batch}
          onDone={() => setChosen(new Set())}
          onClose={() => setBatch(undefined)}
        />
      )}
    </>
  );
}
