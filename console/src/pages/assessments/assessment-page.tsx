import { Anchor, Group, Paper, Stack, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { assessmentQuery, type VersionedAssessment, useDeleteAssessment } from '../../queries/assessments.ts';
import { groupQuery } from '../../queries/groups.ts';
import { fillSentence } from '../../components/fill-sentence.ts';
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { DeleteButton, EditButton } from '../../components/page-actions.tsx';
import { PageFallback } from '../../components/page-fallback.tsx';
import { PageLayout } from '../../components/page.tsx';
import { OrganizationName, TagDot } from '../../components/identity-marks.tsx';
import { Day, Time } from '../../components/time.tsx';
import { currentUserQuery, useIsStaff, useOwnGroups } from '../../session/permissions.ts';
import { AccessTab } from './access-tab.tsx';
import { AssessmentForm } from './assessment-form.tsx';
import classes from './assessment-page.module.css';
import { assessmentTypeLabel } from './columns.tsx';
import { HoursTab } from './hours-tab.tsx';
import { assessmentMessages as messages } from './messages.ts';
import { ScopeTab } from './scope-tab.tsx';
import { useRememberAssessment } from '../../app/recent-assessments.ts';
import { parseAssessmentTab, type AssessmentTab } from '../../app/search-params.ts';
import { AssessmentStateBadge } from './assessment-state-badge.tsx';
import { AssessmentStateMenu } from './assessment-state-menu.tsx';
import { LazyMarkdown } from '../../components/lazy-markdown.tsx';
import { AssayError } from '../../queries/client.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.ts';
import { useVulnerabilities } from '../../queries/vulnerabilities.ts';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { useVulnerabilityTable } from '../vulnerabilities/columns.tsx';
import { vulnerabilityListMessages } from '../vulnerabilities/messages.ts';
import { ListTabs, searchOfTab, tabOf } from '../vulnerabilities/list-tabs.tsx';

/** The page of an assessment: details, vulnerabilities, scope, hours and access. */
export function AssessmentPage() {
  const { uid } = useParams({ from: '/assessments/$uid' });
  const { data, error, refetch } = useQuery(assessmentQuery(uid));
  if (error !== null || data === undefined)
    return <PageFallback noun="assessment" list="/assessments" error={error} refetch={refetch} />;
  return <AssessmentDetail key={uid} assessment={data} />;
}

function AssessmentDetail({ assessment }: { assessment: VersionedAssessment }) {
  const { uid, name, description } = assessment;
  const { data: user } = useQuery(currentUserQuery);
  useRememberAssessment(uid);
  const canEdit = assessment.permissions?.edit === true;
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const isAdmin = user?.admin === true;
  return (
    <PageLayout
      title={name}
      actions={
        <>
          {canEdit ? (
            <AssessmentStateMenu assessment={assessment} />
          ) : (
            <AssessmentStateBadge state={assessment.state} />
          )}
          {canEdit && <EditButton onClick={() => setDialog('edit')} />}
          {isAdmin && <DeleteButton onClick={() => setDialog('delete')} />}
        </>
      }
    >
      <Paper withBorder p="md">
        <Stack gap="md">
          <AssessmentDescriptionList assessment={assessment} />
          {description !== '' && (
            <Text component="div" size="sm" className={classes.text}>
              <LazyMarkdown>{description}</LazyMarkdown>
            </Text>
          )}
        </Stack>
      </Paper>
      <AssessmentTabs assessment={assessment} />
      {dialog === 'edit' && <AssessmentForm assessment={assessment} onClose={() => setDialog(undefined)} />}
      {dialog === 'delete' && (
        <DeleteAssessmentDialog uid={uid} name={name} onClose={() => setDialog(undefined)} />
      )}
    </PageLayout>
  );
}

function AssessmentDescriptionList({ assessment }: { assessment: VersionedAssessment }) {
  const { assessment_group_id: groupId, type, starts_on, ends_on, tags } = assessment;
  const isStaff = useIsStaff() === true;
  return (
    <DescriptionList>
      <DescriptionItem name={messages.id}>{assessment.uid}</DescriptionItem>
      <DescriptionItem name="Type">{assessmentTypeLabel(type)}</DescriptionItem>
      <DescriptionItem name="Organization">
        <OrganizationName uid={assessment.organization_uid} />
      </DescriptionItem>
      <DescriptionItem name="Group">{groupId === null ? 'None' : <GroupLink id={groupId} />}</DescriptionItem>
      <DescriptionItem name="Dates">
        <Period start={starts_on} end={ends_on} />
      </DescriptionItem>
      {isStaff && (
        <DescriptionItem name="Drafts">{messages.draftPolicies[assessment.drafts]}</DescriptionItem>
      )}
      <DescriptionItem name="Created">
        <Time at={assessment.created_at} exact />
      </DescriptionItem>
      <DescriptionItem name="Tags" wide>
        {tags.length === 0 ? (
          'None'
        ) : (
          <Group gap="xs">
            {tags.map(({ id, name }) => (
              <TagDot key={id} id={id} name={name} />
            ))}
          </Group>
        )}
      </DescriptionItem>
    </DescriptionList>
  );
}

/** Links to a group by name; only its ID if the user has no access to it. */
function GroupLink({ id }: { id: number }) {
  const { data: user } = useQuery(currentUserQuery);
  const ownGroups = useOwnGroups();
  const isVisible = user?.admin === true || ownGroups?.some((group) => group.id === id) === true;
  const { data, error } = useQuery({ ...groupQuery(id), enabled: isVisible });
  if (!isVisible || error !== null) return messages.groupOf(id);
  return (
    <Anchor component={Link} to={`/groups/${id}`} size="sm">
      {data?.name ?? messages.groupOf(id)}
    </Anchor>
  );
}

function Period({ start, end }: { start: string | null; end: string | null }) {
  if (start === null && end === null) return messages.noDates;
  if (start === null) return fillSentence(messages.until, { end: <Day on={end ?? ''} /> });
  if (end === null) return fillSentence(messages.from, { start: <Day on={start} /> });
  return fillSentence(messages.fromUntil, { start: <Day on={start} />, end: <Day on={end} /> });
}

function AssessmentTabs({ assessment }: { assessment: VersionedAssessment }) {
  const { uid, vulnerability_count, asset_count, permissions } = assessment;
  const seesFindings = permissions?.read_vulnerabilities !== false;
  const firstTab: AssessmentTab = seesFindings ? 'vulnerabilities' : 'assets';
  const { show = firstTab } = useSearch({ from: '/assessments/$uid' });
  const navigate = useNavigate({ from: '/assessments/$uid' });
  const { data: user } = useQuery(currentUserQuery);
  const isAdmin = user?.admin === true;
  const all: readonly { value: AssessmentTab; label: string; count?: number; isShown?: boolean }[] = [
    {
      value: 'vulnerabilities',
      label: 'Vulnerabilities',
      count: vulnerability_count,
      isShown: seesFindings,
    },
    { value: 'assets', label: 'Scope', count: asset_count },
    { value: 'hours', label: 'Hours', isShown: seesFindings },
    { value: 'people', label: 'People', isShown: isAdmin },
  ];
  const tabs = all.filter(({ isShown = true }) => isShown);
  // Links of admins may lead other users to a tab that they do not have.
  const isAvailable = user === undefined || tabs.some(({ value }) => value === show);
  return (
    <>
      {!seesFindings && <DimmedText>{messages.findingsHidden}</DimmedText>}
      <Tabs
        value={isAvailable ? show : firstTab}
        keepMounted={false}
        onChange={(value) =>
          void navigate({ search: parseAssessmentTab({ show: value }), params: { uid }, replace: true })
        }
      >
        <Tabs.List mb="sm">
          {tabs.map(({ value, label, count }) => (
            <Tabs.Tab key={value} value={value}>
              {label} {count !== undefined && <span className={classes.count}>{messages.count(count)}</span>}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="vulnerabilities">
          <VulnerabilitiesTab assessment={assessment} />
        </Tabs.Panel>
        <Tabs.Panel value="assets">
          <ScopeTab assessment={assessment} />
        </Tabs.Panel>
        <Tabs.Panel value="hours">
          <HoursTab assessment={assessment} />
        </Tabs.Panel>
        {isAdmin && (
          <Tabs.Panel value="people">
            <AccessTab assessment={assessment} />
          </Tabs.Panel>
        )}
      </Tabs>
    </>
  );
}

interface DeleteAssessmentDialogProps {
  uid: string;
  name: string;
  onClose: () => void;
}

/** Confirms the deletion of an assessment, and explains a conflict (operation 84). */
function DeleteAssessmentDialog({ uid, name, onClose }: DeleteAssessmentDialogProps) {
  const remove = useDeleteAssessment(uid);
  const navigate = useNavigate();
  const { error } = remove;
  return (
    <FormDialog
      title={messages.deleteTitle}
      submitLabel="Delete"
      isDestructive
      isPending={remove.isPending}
      error={error === null ? undefined : deletionErrorText(error)}
      onClose={onClose}
      onSubmit={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/assessments' }) })}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {fillSentence(messages.deleteHint, { name: <b>{name}</b> })}
      </Text>
    </FormDialog>
  );
}

function deletionErrorText(error: Error): string {
  return error instanceof AssayError && error.status === 409
    ? messages.deleteConflict(error.message)
    : errorText(error);
}

/** The vulnerabilities of an assessment. */
function VulnerabilitiesTab({ assessment }: { assessment: VersionedAssessment }) {
  const { uid, vulnerability_count: count, permissions } = assessment;
  const { show: _, ...tabFilter } = useSearch({ from: '/assessments/$uid' });
  const [sort, setSort] = useState('-severity');
  const filter = { assessment_id: [uid], ...tabFilter };
  const tab = tabOf(filter);
  const table = useVulnerabilityTable({ isOfOneAssessment: true });
  const list = useVulnerabilities({ ...searchOfTab(filter), sort });
  const navigate = useNavigate();
  const [current, setCurrent] = useState<number>();
  return (
    <>
      <Group mb="xs">
        <ListTabs search={filter} />
        <Anchor
          size="sm"
          ml="auto"
          renderRoot={(props) => <Link to="/vulnerabilities" search={filter} {...props} />}
        >
          {messages.openInList}
        </Anchor>
      </Group>
      <div className={classes.table}>
        <DataTable
          label={messages.vulnerabilitiesLabel}
          list={list}
          {...table}
          rowId={({ id }) => String(id)}
          rowName={({ title }) => title}
          current={current}
          onCurrent={setCurrent}
          onOpen={({ id }) => void navigate({ to: '/vulnerabilities', search: { ...filter, open: id } })}
          sort={sort}
          onSort={setSort}
          empty={
            count === 0 ? (
              <EmptyState title={messages.noFindings}>
                {permissions?.report === true && messages.noFindingsHint}
              </EmptyState>
            ) : (
              <EmptyState title={vulnerabilityListMessages.nothingIn[tab]} />
            )
          }
        />
      </div>
    </>
  );
}
