import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { NothingHere, PlaceFailed } from './failed-places.tsx';
import { Shell } from './shell.tsx';
import { assessmentSearchOf, assessmentTabOf } from '../places/assessments/search.ts';
import { groupRoleOf, groupSearchOf } from '../places/groups/search.ts';
import { peopleSearchOf } from '../places/people/search.ts';
import { auditSearch } from '../places/audit/search.ts';
import { tagsSearch } from '../places/tags/search.ts';
import { assetSearchOf } from '../places/assets/search.ts';
import { importSearchOf } from '../places/imports/search.ts';
import { searchOf } from '../places/vulnerabilities/search.ts';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NothingHere,
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('../places/home/home-page.tsx'), 'Home'),
});

const vulnerabilities = createRoute({
  getParentRoute: () => root,
  path: '/vulnerabilities',
  validateSearch: searchOf,
  component: lazyRouteComponent(
    () => import('../places/vulnerabilities/vulnerability-list.tsx'),
    'VulnerabilityList',
  ),
});

const assessments = createRoute({
  getParentRoute: () => root,
  path: '/assessments',
  validateSearch: assessmentSearchOf,
  component: lazyRouteComponent(() => import('../places/assessments/assessment-list.tsx'), 'AssessmentList'),
});

const assessmentPage = createRoute({
  getParentRoute: () => root,
  path: '/assessments/$uid',
  validateSearch: assessmentTabOf,
  component: lazyRouteComponent(() => import('../places/assessments/assessment-page.tsx'), 'AssessmentPage'),
});

const groups = createRoute({
  getParentRoute: () => root,
  path: '/groups',
  validateSearch: groupSearchOf,
  component: lazyRouteComponent(() => import('../places/groups/group-list.tsx'), 'GroupList'),
});

const groupPage = createRoute({
  getParentRoute: () => root,
  path: '/groups/$id',
  validateSearch: groupRoleOf,
  component: lazyRouteComponent(() => import('../places/groups/group-page.tsx'), 'GroupPage'),
});

const people = createRoute({
  getParentRoute: () => root,
  path: '/people',
  validateSearch: peopleSearchOf,
  component: lazyRouteComponent(() => import('../places/people/people-list.tsx'), 'PeopleList'),
});

const personPage = createRoute({
  getParentRoute: () => root,
  path: '/people/$id',
  component: lazyRouteComponent(() => import('../places/people/person-page.tsx'), 'PersonPage'),
});

const newVulnerability = createRoute({
  getParentRoute: () => root,
  path: '/vulnerabilities/new',
  validateSearch: ({
    from,
    assessment,
  }: Record<string, unknown>): { from?: number; assessment?: string } => ({
    ...(typeof from === 'number' ? { from } : {}),
    ...(typeof assessment === 'string' ? { assessment } : {}),
  }),
  component: lazyRouteComponent(
    () => import('../places/vulnerability/new-vulnerability.tsx'),
    'NewVulnerability',
  ),
});

const oneVulnerability = createRoute({
  getParentRoute: () => root,
  path: '/vulnerabilities/$id',
  component: lazyRouteComponent(
    () => import('../places/vulnerability/vulnerability-page.tsx'),
    'VulnerabilityPage',
  ),
});

const editVulnerability = createRoute({
  getParentRoute: () => root,
  path: '/vulnerabilities/$id/edit',
  component: lazyRouteComponent(
    () => import('../places/vulnerability/edit-vulnerability.tsx'),
    'EditVulnerability',
  ),
});

const tags = createRoute({
  getParentRoute: () => root,
  path: '/tags',
  validateSearch: tagsSearch,
  component: lazyRouteComponent(() => import('../places/tags/tag-list.tsx'), 'Tags'),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('../places/audit/audit-list.tsx'), 'Audit'),
});

const assets = createRoute({
  getParentRoute: () => root,
  path: '/assets',
  validateSearch: assetSearchOf,
  component: lazyRouteComponent(() => import('../places/assets/asset-list.tsx'), 'AssetList'),
});

const oneAsset = createRoute({
  getParentRoute: () => root,
  path: '/assets/$uid',
  component: lazyRouteComponent(() => import('../places/assets/asset-page.tsx'), 'AssetPage'),
});

const imports = createRoute({
  getParentRoute: () => root,
  path: '/imports',
  validateSearch: importSearchOf,
  component: lazyRouteComponent(() => import('../places/imports/import-list.tsx'), 'ImportList'),
});

const oneImport = createRoute({
  getParentRoute: () => root,
  path: '/imports/$id',
  component: lazyRouteComponent(() => import('../places/imports/import-page.tsx'), 'ImportPage'),
});

const places = [
  home,
  vulnerabilities,
  newVulnerability,
  oneVulnerability,
  editVulnerability,
  assessments,
  assessmentPage,
  groups,
  groupPage,
  people,
  personPage,
  tags,
  audit,
  assets,
  oneAsset,
  imports,
  oneImport,
];

/** Every address of the console; each place is loaded when somebody goes there. */
export const router = createRouter({
  routeTree: root.addChildren(places),
  defaultPreload: 'intent',
  defaultErrorComponent: PlaceFailed,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
