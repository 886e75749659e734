import { Anchor, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { assessmentQuery, type VersionedAssessment } from '../../queries/assessments.ts';
import { groupQuery } from '../../queries/groups.ts';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { OrganizationName, TagDot } from '../../components/identity-marks.tsx';
import { PageFallback } from '../../components/page-fallback.tsx';
import { PageLayout } from '../../components/page.tsx';
import { Columns } from '../../components/section.tsx';
import { useRememberAssessment } from '../../app/recent-assessments.ts';
import { parseAssessmentTab, type AssessmentTab } from '../../app/search-params.ts';
import { currentUserQuery, useOwnGroups } from '../../session/permissions.ts';
import { AccessTab } from './access-tab.tsx';
import { AssessmentActions } from './assessment-actions.tsx';
import { AssessmentAside } from './assessment-aside.tsx';
import { AssessmentFigures } from './assessment-figures.tsx';
import { AssessmentForm } from './assessment-form.tsx';
import classes from './assessment-page.module.css';
import { AssessmentStateBadge } from './assessment-state-badge.tsx';
import { AssessmentStateMenu, useStateChange } from './assessment-state-menu.tsx';
import { assessmentTypeLabel } from './columns.tsx';
import { DeleteAssessmentDialog } from './delete-assessment-dialog.tsx';
import { FindingsTab } from './findings-tab.tsx';
import { HoursTab } from './hours-tab.tsx';
import { ImportsTab } from './imports-tab.tsx';
import { asideMessages, assessmentMessages as messages } from './messages.ts';
import { ScopeTab } from './scope-tab.tsx';

/** The page of an assessment: four figures, and tabs for findings, scope, hours, imports and access. */
export function AssessmentPage() {
  const { uid } = useParams({ from: '/assessments/$uid' });
  const { data, error, refetch } = useQuery(assessmentQuery(uid));
  if (error !== null || data === undefined)
    return <PageFallback noun="assessment" list="/assessments" error={error} refetch={refetch} />;
  return <AssessmentDetail key={uid} assessment={data} />;
}

function AssessmentDetail({ assessment }: { assessment: VersionedAssessment }) {
  const { uid, name, state, tags } = assessment;
  useRememberAssessment(uid);
  const canEdit = assessment.permissions?.edit === true;
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const edit = canEdit ? () => setDialog('edit') : undefined;
  const stateChange = useStateChange(assessment);
  return (
    <PageLayout
      title={name}
      tabs={
        <>
          {canEdit ? (
            <AssessmentStateMenu state={state} onChoose={stateChange.choose} />
          ) : (
            <AssessmentStateBadge state={state} />
          )}
          {tags.map((tag) => (
            <TagDot key={tag.id} {...tag} />
          ))}
        </>
      }
      actions={
        <AssessmentActions
          assessment={assessment}
          onEdit={edit}
          onDelete={() => setDialog('delete')}
          onState={stateChange.choose}
        />
      }
      toolbar={<Identity assessment={assessment} />}
      isFullWidth
    >
      <AssessmentFigures assessment={assessment} onEdit={edit} />
      <Columns label={asideMessages.about} aside={<AssessmentAside assessment={assessment} onEdit={edit} />}>
        <AssessmentTabs assessment={assessment} />
      </Columns>
      {stateChange.dialog}
      {dialog === 'edit' && <AssessmentForm assessment={assessment} onClose={() => setDialog(undefined)} />}
      {dialog === 'delete' && (
        <DeleteAssessmentDialog uid={uid} name={name} onClose={() => setDialog(undefined)} />
      )}
    </PageLayout>
  );
}

function Identity({
  assessment: { uid, type, organization_uid, assessment_group_id: groupId },
}: {
  assessment: VersionedAssessment;
}) {
  return (
    <p className={classes.identity}>
      <span>{assessmentTypeLabel(type)}</span>
      <span>
        <OrganizationName uid={organization_uid} />
      </span>
      {groupId !== null && (
        <span>
          <GroupLink id={groupId} />
        </span>
      )}
      <code>{uid}</code>
    </p>
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

function AssessmentTabs({ assessment }: { assessment: VersionedAssessment }) {
  const { uid, open_vulnerability_count: open, asset_count, permissions } = assessment;
  const seesFindings = permissions?.read_vulnerabilities !== false;
  const firstTab: AssessmentTab = seesFindings ? 'vulnerabilities' : 'assets';
  const { show = firstTab } = useSearch({ from: '/assessments/$uid' });
  const navigate = useNavigate({ from: '/assessments/$uid' });
  const { data: user } = useQuery(currentUserQuery);
  const isAdmin = user?.admin === true;
  const all: readonly { value: AssessmentTab; count?: string; isShown?: boolean }[] = [
    { value: 'vulnerabilities', count: messages.openCount(open), isShown: seesFindings },
    { value: 'assets', count: asset_count.toLocaleString() },
    { value: 'hours', isShown: seesFindings },
    { value: 'imports' },
    { value: 'people', isShown: isAdmin },
  ];
  const tabs = all.filter(({ isShown = true }) => isShown);
  // Links of admins may lead other users to a tab that they do not have.
  const isAvailable = user === undefined || tabs.some(({ value }) => value === show);
  return (
    <>
      {!seesFindings && <DimmedText className={classes.bar}>{messages.findingsHidden}</DimmedText>}
      <Tabs
        value={isAvailable ? show : firstTab}
        keepMounted={false}
        onChange={(value) =>
          void navigate({ search: parseAssessmentTab({ show: value }), params: { uid }, replace: true })
        }
      >
        <Tabs.List className={classes.tabs}>
          {tabs.map(({ value, count }) => (
            <Tabs.Tab key={value} value={value}>
              {messages.pageTabs[value]}
              {count !== undefined && (
                <>
                  {' '}
                  <span className={classes.count}>{count}</span>
                </>
              )}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="vulnerabilities">
          <FindingsTab assessment={assessment} />
        </Tabs.Panel>
        <Tabs.Panel value="assets" className={classes.panel}>
          <ScopeTab assessment={assessment} />
        </Tabs.Panel>
        <Tabs.Panel value="hours" className={classes.panel}>
          <HoursTab assessment={assessment} />
        </Tabs.Panel>
        <Tabs.Panel value="imports">
          <ImportsTab assessment={assessment} />
        </Tabs.Panel>
        {isAdmin && (
          <Tabs.Panel value="people" className={classes.panel}>
            <AccessTab assessment={assessment} />
          </Tabs.Panel>
        )}
      </Tabs>
    </>
  );
}
