import { Kbd, Skeleton, VisuallyHidden } from '@mantine/core';
import { IconSearch, IconTarget } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { OrganizationMark } from '../components/identity-marks.tsx';
import { activeAssessmentsQuery } from '../queries/assessments.ts';
import type { Assessment } from '../queries/client.ts';
import { runningImportsQuery } from '../queries/imports.ts';
import { organizationsQuery } from '../queries/organizations.ts';
import { OPEN_SEARCH, vulnerabilityTotalQuery } from '../queries/vulnerabilities.ts';
import { useSelectedOrganization, useOfOrganization } from '../session/selected-organization.ts';
import { currentUserQuery, useIsStaff } from '../session/permissions.ts';
import { AccountMenu } from './account-menu.tsx';
import { Logo } from './logo.tsx';
import { appMessages } from './messages.ts';
import { OrganizationMenu } from './organization-menu.tsx';
import { organizationSearch, useNavItems, useReadsVulnerabilities, type NavItem } from './nav-items.ts';
import { recentAssessments } from './recent-assessments.ts';
import classes from './shell.module.css';

const MAX_ASSESSMENTS = 6;

/** The organization, the search, the navigation and the account. */
export function Sidebar({ onSearch }: { onSearch: () => void }) {
  const items = useNavItems();
  const linksOf = (isManaged: boolean) =>
    items
      .filter((item) => (item.isManaged === true) === isManaged)
      .map((item) => <ItemLink key={item.to} item={item} />);
  return (
    <>
      <OrganizationLink />
      <button type="button" className={classes.search} onClick={onSearch}>
        <IconSearch size={16} stroke={1.75} aria-hidden />
        <span className={classes.name}>{appMessages.search}</span>
        <Kbd aria-hidden>Ctrl K</Kbd>
      </button>
      <nav aria-label={appMessages.navigation}>
        <div className={classes.links}>{linksOf(false)}</div>
        <ActiveAssessments />
        <LinkGroup label={appMessages.manage}>{linksOf(true)}</LinkGroup>
      </nav>
      <div className={classes.foot}>
        <AccountMenu />
      </div>
    </>
  );
}

/** The organization of the user; staff choose one or all. */
function OrganizationLink() {
  const { data: user } = useQuery(currentUserQuery);
  const { data: organizations } = useQuery(organizationsQuery);
  if (user?.staff === true) return <OrganizationMenu />;
  const organization = organizations?.find(({ uid }) => uid === user?.organization_uid);
  return (
    <Link to="/" className={classes.organization}>
      {user === undefined || organizations === undefined ? (
        <>
          <Skeleton height={12} width={120} />
          <VisuallyHidden>Assay</VisuallyHidden>
        </>
      ) : (
        <>
          <span className={classes.mark} aria-hidden>
            {organization === undefined ? (
              <Logo size={22} />
            ) : (
              <OrganizationMark organization={organization} />
            )}
          </span>
          <span className={classes.name}>{organization?.name ?? 'Assay'}</span>
        </>
      )}
    </Link>
  );
}

function ItemLink({ item }: { item: NavItem }) {
  const { to, label, icon: Icon } = item;
  const selected = useSelectedOrganization();
  return (
    <Link
      to={to}
      search={organizationSearch(item, selected)}
      activeOptions={{ exact: to === '/', includeSearch: false }}
    >
      <Icon size={16} stroke={1.75} aria-hidden />
      <span className={classes.name}>{label}</span>
      {to === '/vulnerabilities' && <OpenCount />}
      {to === '/imports' && <RunningCount />}
    </Link>
  );
}

function OpenCount() {
  const { data: count } = useQuery(vulnerabilityTotalQuery({ ...OPEN_SEARCH, ...useOfOrganization() }));
  return <Count count={count} unit={appMessages.open} />;
}

function RunningCount() {
  const { data: imports } = useQuery(runningImportsQuery);
  const selected = useSelectedOrganization();
  const ofSelected = imports?.filter(
    ({ organization_uid: uid }) => selected === undefined || uid === selected,
  );
  return <Count count={ofSelected?.length} unit={appMessages.running} />;
}

/** A number at the end of a link, with its unit for screen readers; absent if there is nothing to count. */
function Count({ count = 0, unit }: { count: number | undefined; unit: string }) {
  return (
    count > 0 && (
      <span className={classes.count}>
        {count.toLocaleString()}
        <VisuallyHidden component="span"> {unit}</VisuallyHidden>
      </span>
    )
  );
}

/** The active assessments with open findings, the last opened first. */
function ActiveAssessments() {
  const { data: assessments = [] } = useQuery({
    ...activeAssessmentsQuery,
    enabled: useReadsVulnerabilities(),
  });
  const selected = useSelectedOrganization();
  const recent = recentAssessments();
  const rank = ({ uid }: Assessment) => (recent.includes(uid) ? recent.indexOf(uid) : recent.length);
  const shown = assessments
    .filter(
      ({ open_vulnerability_count: count, organization_uid: uid }) =>
        count > 0 && (selected === undefined || uid === selected),
    )
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, MAX_ASSESSMENTS);
  return (
    shown.length > 0 && (
      <LinkGroup label={appMessages.activeAssessments}>
        {shown.map((assessment) => (
          <Link key={assessment.uid} to="/assessments/$uid" params={{ uid: assessment.uid }}>
            <AssessmentIcon assessment={assessment} />
            <span className={classes.name} dir="auto">
              {assessment.name}
            </span>
            <Count count={assessment.open_vulnerability_count} unit={appMessages.open} />
          </Link>
        ))}
      </LinkGroup>
    )
  );
}

/** For staff, who work for several organizations, the mark of the assessment's organization. */
function AssessmentIcon({ assessment }: { assessment: Assessment }) {
  const isStaff = useIsStaff();
  const { data: organizations } = useQuery(organizationsQuery);
  const organization = organizations?.find(({ uid }) => uid === assessment.organization_uid);
  return isStaff === true && organization !== undefined ? (
    <OrganizationMark organization={organization} size="sm" />
  ) : (
    <IconTarget size={16} stroke={1.75} aria-hidden />
  );
}

function LinkGroup({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <p className={classes.label} aria-hidden>
        {label}
      </p>
      <div className={classes.links} role="group" aria-label={label}>
        {children}
      </div>
    </>
  );
}
