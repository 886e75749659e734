import {
  type Icon,
  IconBug,
  IconClipboardList,
  IconFileImport,
  IconHistory,
  IconHome,
  IconServer,
  IconTags,
  IconUsers,
  IconUsersGroup,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { currentUserQuery, usePermissions } from '../session/permissions.ts';

/** A page of the navigation. */
export interface NavItem {
  to:
    | '/'
    | '/vulnerabilities'
    | '/assets'
    | '/assessments'
    | '/imports'
    | '/tags'
    | '/groups'
    | '/people'
    | '/audit';
  /** The second key of the shortcut: `g h` goes to Home. */
  key: string;
  label: string;
  icon: Icon;
  /** Belongs to the group "Manage", and is useful without access to any assessment. */
  isManaged?: boolean;
  needsAdmin?: boolean;
  /** The parameter of its address that filters by organization. */
  organizationFilter?: 'organization_uid' | 'organizationUid' | 'organization';
}

const NAV_ITEMS: readonly NavItem[] = [
  { to: '/', key: 'h', label: 'Home', icon: IconHome },
  {
    to: '/vulnerabilities',
    key: 'v',
    label: 'Vulnerabilities',
    icon: IconBug,
    organizationFilter: 'organization_uid',
  },
  { to: '/assets', key: 'a', label: 'Assets', icon: IconServer, organizationFilter: 'organizationUid' },
  {
    to: '/assessments',
    key: 's',
    label: 'Assessments',
    icon: IconClipboardList,
    organizationFilter: 'organization_uid',
  },
  {
    to: '/imports',
    key: 'i',
    label: 'Imports',
    icon: IconFileImport,
    organizationFilter: 'organization_uid',
  },
  {
    to: '/tags',
    key: 't',
    label: 'Tags',
    icon: IconTags,
    isManaged: true,
    organizationFilter: 'organization',
  },
  {
    to: '/groups',
    key: 'g',
    label: 'Groups',
    icon: IconUsersGroup,
    isManaged: true,
    organizationFilter: 'organization_uid',
  },
  {
    to: '/people',
    key: 'p',
    label: 'People',
    icon: IconUsers,
    isManaged: true,
    needsAdmin: true,
    organizationFilter: 'organization_uid',
  },
  { to: '/audit', key: 'l', label: 'Audit log', icon: IconHistory, isManaged: true, needsAdmin: true },
];

/** @returns the pages that the user may read */
export function useNavItems(): readonly NavItem[] {
  const { data: user } = useQuery(currentUserQuery);
  const readsVulnerabilities = useReadsVulnerabilities();
  return NAV_ITEMS.filter(
    (item) =>
      (item.needsAdmin !== true || user?.admin === true) &&
      (item.to !== '/vulnerabilities' || readsVulnerabilities),
  );
}

/** @returns the search parameters of a page that filter it by an organization; none for all */
export function organizationSearch(
  { organizationFilter: name }: NavItem,
  uid: string | undefined,
): Record<string, string | string[]> {
  if (name === undefined || uid === undefined) return {};
  return { [name]: name === 'organization' ? uid : [uid] };
}

/** Whether the user may read vulnerabilities; true until it is known, and for users without any role. */
export function useReadsVulnerabilities(): boolean {
  const { isKnown, isWithoutRole, allows } = usePermissions();
  return !isKnown || isWithoutRole || allows('read_vulnerabilities');
}

/** @returns the item of the current page, and whether the page is that of the item rather than one below it */
export function useCurrentNavItem(): { item: NavItem | undefined; isTopLevel: boolean } {
  const [, first = '', ...rest] = useLocation({ select: ({ pathname }) => pathname }).split('/');
  return {
    item: NAV_ITEMS.find(({ to }) => to === `/${first}`),
    isTopLevel: rest.length === 0,
  };
}
