import { Anchor, Button, Chip, Group, Menu, Text } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { GroupMember } from '../../../../client/src/openapi-types.ts';
import type { AssessmentGroup } from '../../queries/client.ts';
import {
  GROUP_ROLE_DESCRIPTIONS,
  GROUP_ROLE_LABELS,
  memberCountsQuery,
  useGroupMembers,
  groupQuery,
  useGroupMutations,
} from '../../queries/groups.ts';
import type { GroupRole } from '../../queries/enums.ts';
import { loadedRows } from '../../queries/paged-list.ts';
import { fillSentence } from '../../components/fill-sentence.ts';
import { pluralize } from '../../components/pluralize.ts';
import { assignableRoles } from './assignable-roles.ts';
import { toOptions } from '../../components/filter-definition.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.ts';
import { DeleteButton, EditButton } from '../../components/page-actions.tsx';
import { PageFallback } from '../../components/page-fallback.tsx';
import { PageLayout } from '../../components/page.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { type Column, StackedCell } from '../../components/table-column.tsx';
import { OrganizationName } from '../../components/identity-marks.tsx';
import { Time } from '../../components/time.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import { AddMembersDialog } from './add-members-dialog.tsx';
import { GroupFormDialog } from './group-form-dialog.tsx';
import classes from './group-page.module.css';
import { BulkMemberDialog, type MemberUpdate } from './bulk-member-dialog.tsx';
import { parseGroupRole } from '../../app/search-params.ts';
import { groupMessages } from './messages.ts';
import { LazyMarkdown } from '../../components/lazy-markdown.tsx';
import { commonMessages } from '../../components/messages.ts';

const memberName = ({ userName, userEmail, userUid }: GroupMember) => userName ?? userEmail ?? userUid;

const userUidOf = ({ userUid }: GroupMember) => userUid;

const messages = groupMessages.members;

const MEMBER_COLUMNS: readonly Column<GroupMember>[] = [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(100px, 1fr)',
    cell: (member) => <span title={memberName(member)}>{memberName(member)}</span>,
    narrow: {
      cell: (member) => (
        <StackedCell secondary={<bdi>{member.userEmail}</bdi>}>{memberName(member)}</StackedCell>
      ),
    },
  },
  {
    id: 'email',
    header: 'Email',
    width: 'minmax(100px, 1fr)',
    minTableWidth: 560,
    cell: ({ userEmail }) => <span title={userEmail}>{userEmail}</span>,
  },
  {
    id: 'role',
    header: 'Role',
    width: '150px',
    cell: ({ role }) => GROUP_ROLE_LABELS[role],
    narrow: {
      width: '108px',
      cell: ({ role }) => <span title={GROUP_ROLE_LABELS[role]}>{GROUP_ROLE_LABELS[role]}</span>,
    },
  },
  {
    id: 'since',
    header: 'Since',
    width: '136px',
    minTableWidth: 700,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];

/** The page of one group, with its members by role. */
export function GroupPage() {
  const { id } = useParams({ from: '/groups/$id' });
  const { data, error, refetch } = useQuery(groupQuery(Number(id)));
  if (error !== null || data === undefined)
    return <PageFallback noun="group" list="/groups" error={error} refetch={refetch} />;
  return <GroupDetails key={id} group={data} />;
}

function GroupDetails({ group }: { group: AssessmentGroup & { version: string } }) {
  const { data: user } = useQuery(currentUserQuery);
  const isAdmin = user?.admin === true;
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const close = () => setDialog(undefined);
  return (
    <PageLayout
      fillsHeight
      title={group.name}
      actions={
        isAdmin && (
          <>
            <EditButton onClick={() => setDialog('edit')} />
            <DeleteButton onClick={() => setDialog('delete')} />
          </>
        )
      }
    >
      {group.description !== '' && (
        <Text component="div" size="sm" style={{ overflowWrap: 'anywhere' }}>
          <LazyMarkdown>{group.description}</LazyMarkdown>
        </Text>
      )}
      <Text size="sm">
        {fillSentence(groupMessages.assessmentsIn, {
          assessments: (
            <Anchor
              size="sm"
              renderRoot={(props) => (
                <Link to="/assessments" search={{ assessment_group_id: group.id }} {...props} />
              )}
            >
              {pluralize(group.assessment_count, 'assessment')}
            </Anchor>
          ),
          organization: <OrganizationName uid={group.organization_uid} />,
        })}
      </Text>
      <Members id={group.id} organizationUid={group.organization_uid} />
      {dialog === 'edit' && <GroupFormDialog group={group} onClose={close} />}
      {dialog === 'delete' && <DeleteGroupDialog group={group} onClose={close} />}
    </PageLayout>
  );
}

function DeleteGroupDialog({ group, onClose }: { group: AssessmentGroup; onClose: () => void }) {
  const { remove } = useGroupMutations();
  const navigate = useNavigate();
  return (
    <FormDialog
      title={groupMessages.remove.title(group.name)}
      submitLabel="Delete"
      isDestructive
      isPending={remove.isPending}
      error={errorText(remove.error)}
      onClose={onClose}
      onSubmit={() => remove.mutate(group, { onSuccess: () => void navigate({ to: '/groups' }) })}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {groupMessages.remove.warning(group.member_count, group.assessment_count)}
      </Text>
    </FormDialog>
  );
}

function Members({ id, organizationUid }: { id: number; organizationUid: string }) {
  const { role } = useSearch({ from: '/groups/$id' });
  const navigate = useNavigate({ from: '/groups/$id' });
  const { data: user } = useQuery(currentUserQuery);
  const list = useGroupMembers(id, role);
  const { data: counts } = useQuery(memberCountsQuery(id));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isAdding, setAdding] = useState(false);
  const [batch, setBatch] = useState<MemberUpdate>();
  const canEdit = counts?.mayRemove === true;
  const canAdd = counts?.mayAdd === true;
  const isAdmin = user?.admin === true;
  const selectedPeople = () =>
    loadedRows(list, userUidOf)
      .filter(({ userUid }) => selected.has(userUid))
      .map((member) => ({ userUid: member.userUid, name: memberName(member), role: member.role }));
  const show = (next: GroupRole | '') => {
    setSelected(new Set());
    void navigate({ search: parseGroupRole({ role: next }), params: { id: String(id) }, replace: true });
  };
  const add = canAdd && (
    <Button size="xs" leftSection={<IconUserPlus size={14} aria-hidden />} onClick={() => setAdding(true)}>
      {messages.add}
    </Button>
  );
  return (
    <>
      <Group justify="space-between" className={classes.selection}>
        {selected.size > 0 ? (
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {commonMessages.list.selected(selected.size)}
            </Text>
            {canAdd &&
              (isAdmin || selectedPeople().every(({ role: current }) => current !== 'infra_admin')) && (
                <Menu position="bottom-start">
                  <Menu.Target>
                    <Button size="xs" variant="default">
                      Role
                    </Button>
                  </Menu.Target>
                  <Menu.Dropdown>
                    {assignableRoles(isAdmin).map(({ value, label }) => (
                      <Menu.Item
                        key={value}
                        onClick={() => setBatch({ kind: 'role', role: value, people: selectedPeople() })}
                      >
                        {label}
                      </Menu.Item>
                    ))}
                  </Menu.Dropdown>
                </Menu>
              )}
            <Button
              size="xs"
              variant="default"
              onClick={() => setBatch({ kind: 'remove', people: selectedPeople() })}
            >
              Remove
            </Button>
            <Button size="xs" variant="subtle" onClick={() => setSelected(new Set())}>
              Clear
            </Button>
          </Group>
        ) : (
          <Chip.Group value={role ?? ''} onChange={(value) => show(value as GroupRole | '')}>
            <Group gap={6} role="radiogroup" aria-label="Role">
              <Chip size="xs" variant="outline" value="">
                {messages.all(counts?.total ?? 0)}
              </Chip>
              {toOptions(GROUP_ROLE_LABELS)
                .filter(({ value }) => value === role || (counts?.byRole.get(value) ?? 0) > 0)
                .map(({ value, label }) => (
                  <Chip
                    key={value}
                    size="xs"
                    variant="outline"
                    value={value}
                    title={GROUP_ROLE_DESCRIPTIONS[value]}
                  >
                    {messages.role(label, counts?.byRole.get(value) ?? 0)}
                  </Chip>
                ))}
            </Group>
          </Chip.Group>
        )}
        {(counts?.total ?? 0) > 0 && add}
      </Group>
      <div className={classes.table}>
        <DataTable
          label="Members"
          list={list}
          columns={MEMBER_COLUMNS}
          rowId={userUidOf}
          rowName={memberName}
          {...(canEdit ? { selection: { selected, onChange: setSelected } } : {})}
          empty={
            <EmptyState title={role === undefined ? messages.none : messages.noneWithRole} action={add}>
              {canAdd ? messages.noneHint : messages.noneHintForMembers}
            </EmptyState>
          }
        />
      </div>
      {isAdding && (
        <AddMembersDialog id={id} organizationUid={organizationUid} onClose={() => setAdding(false)} />
      )}
      {batch !== undefined && (
        <BulkMemberDialog
          id={id}
          update={batch}
          canUndo={canAdd}
          onDone={() => setSelected(new Set())}
          onClose={() => setBatch(undefined)}
        />
      )}
    </>
  );
}
