import { Anchor, Button, Group, Menu, Text } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import type { GroupMember } from '../../../../client/src/openapi-types.ts';
import type { AssessmentGroup } from '../../queries/client.ts';
import {
  GROUP_ROLE_DESCRIPTIONS,
  type MemberCounts,
  memberCountsQuery,
  membersByRole,
  useGroupMembers,
  groupQuery,
  useGroupMutations,
} from '../../queries/groups.ts';
import { loadedRows } from '../../queries/paged-list.ts';
import { fillSentence } from '../../components/fill-sentence.ts';
import { pluralize } from '../../components/pluralize.ts';
import { assignableRoles } from './assignable-roles.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.ts';
import { MoreMenu } from '../../components/more-menu.tsx';
import { EditButton } from '../../components/page-actions.tsx';
import { PageFallback } from '../../components/page-fallback.tsx';
import { PageBar, PageLayout } from '../../components/page.tsx';
import { useRowGroups } from '../../components/row-groups.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { type Column, StackedCell } from '../../components/table-column.tsx';
import { OrganizationName } from '../../components/identity-marks.tsx';
import { Time } from '../../components/time.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import { AddMembersDialog } from './add-members-dialog.tsx';
import { MemberMark, memberName } from './member-mark.tsx';
import { GroupFormDialog } from './group-form-dialog.tsx';
import { BulkMemberDialog, type MemberUpdate } from './bulk-member-dialog.tsx';
import { groupMessages } from './messages.ts';
import { LazyMarkdown } from '../../components/lazy-markdown.tsx';
import { commonMessages } from '../../components/messages.ts';

const userUidOf = ({ userUid }: GroupMember) => userUid;

const messages = groupMessages.members;

const MEMBER_COLUMNS: readonly Column<GroupMember>[] = [
  {
    id: 'mark',
    header: messages.mark,
    width: '24px',
    hidesHeader: true,
    cell: (member) => <MemberMark member={member} />,
  },
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(100px, 1fr)',
    cell: (member) => (
      <StackedCell secondary={<bdi>{member.userEmail}</bdi>}>
        <span title={memberName(member)}>{memberName(member)}</span>
      </StackedCell>
    ),
  },
  {
    id: 'since',
    header: 'Since',
    width: '136px',
    minTableWidth: 420,
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
  const { data: counts } = useQuery(memberCountsQuery(group.id));
  const isAdmin = user?.admin === true;
  const [dialog, setDialog] = useState<'add' | 'edit' | 'delete'>();
  const close = () => setDialog(undefined);
  const add = counts?.mayAdd === true && (
    <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={() => setDialog('add')}>
      {messages.add}
    </Button>
  );
  return (
    <PageLayout
      fillsHeight
      title={group.name}
      actions={
        <>
          {isAdmin && <EditButton onClick={() => setDialog('edit')} />}
          {(counts?.total ?? 0) > 0 && add}
          {isAdmin && (
            <MoreMenu>
              <Menu.Item color="red" onClick={() => setDialog('delete')}>
                Delete
              </Menu.Item>
            </MoreMenu>
          )}
        </>
      }
      toolbar={
        <>
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
          {group.description !== '' && (
            <Text component="div" size="sm" style={{ overflowWrap: 'anywhere' }}>
              <LazyMarkdown>{group.description}</LazyMarkdown>
            </Text>
          )}
        </>
      }
    >
      {counts !== undefined && <Members id={group.id} counts={counts} isAdmin={isAdmin} add={add} />}
      {dialog === 'add' && (
        <AddMembersDialog id={group.id} organizationUid={group.organization_uid} onClose={close} />
      )}
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

interface MembersProps {
  id: number;
  counts: MemberCounts;
  isAdmin: boolean;
  /** Adds members. */
  add: ReactNode;
}

function Members({ id, counts: { byRole, mayAdd, mayRemove }, isAdmin, add }: MembersProps) {
  const list = useGroupMembers(id);
  const groups = useRowGroups(
    useMemo(() => membersByRole(byRole), [byRole]),
    list.total,
  );
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [batch, setBatch] = useState<MemberUpdate>();
  const selectedPeople = loadedRows(list, userUidOf)
    .filter(({ userUid }) => selected.has(userUid))
    .map((member) => ({ userUid: member.userUid, name: memberName(member), role: member.role }));
  const canSetRole = mayAdd && (isAdmin || selectedPeople.every(({ role }) => role !== 'infra_admin'));
  return (
    <>
      {selected.size > 0 && (
        <PageBar>
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {commonMessages.list.selected(selected.size)}
            </Text>
            {canSetRole && (
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
                      title={GROUP_ROLE_DESCRIPTIONS[value]}
                      onClick={() => setBatch({ kind: 'role', role: value, people: selectedPeople })}
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
              onClick={() => setBatch({ kind: 'remove', people: selectedPeople })}
            >
              Remove
            </Button>
            <Button size="xs" variant="subtle" onClick={() => setSelected(new Set())}>
              Clear
            </Button>
          </Group>
        </PageBar>
      )}
      <DataTable
        label="Members"
        list={list}
        columns={MEMBER_COLUMNS}
        groups={groups}
        rowHeight={52}
        rowId={userUidOf}
        rowName={memberName}
        {...(mayRemove ? { selection: { selected, onChange: setSelected } } : {})}
        empty={
          <EmptyState title={messages.none} action={add}>
            {mayAdd ? messages.noneHint : messages.noneHintForMembers}
          </EmptyState>
        }
      />
      {batch !== undefined && (
        <BulkMemberDialog
          id={id}
          update={batch}
          canUndo={mayAdd}
          onDone={() => setSelected(new Set())}
          onClose={() => setBatch(undefined)}
        />
      )}
    </>
  );
}
