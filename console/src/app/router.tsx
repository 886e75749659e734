import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { NothingHere, PlaceFailed } from './error-pages.tsx';
import { Shell } from './shell.tsx';
import { assessmentSearchOf, assessmentTabOf } from '../pages/assessments/search-params.ts';
import { groupRoleOf, groupSearchOf } from '../pages/groups/search.ts';
import { peopleSearchOf } from '../pages/people/search.ts';
import { auditSearch } from '../pages/audit/search.ts';
import { tagsSearch } from '../pages/tags/search.ts';
import { assetSearchOf } from '../pages/assets/search-params.ts';
import { importSearchOf } from '../pages/imports/search.ts';
import { searchOf } from '../pages/vulnerabilities/search-params.ts';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NothingHere,
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/home/home-page.tsx'), 'Home'),
});

const vulnerabilities = createRoute({
  getParentRoute: () => root,
  path: '/vulnerabilities',
  validateSearch: searchOf,
  component: lazyRouteComponent(
    () => import('../pages/vulnerabilities/vulnerability-list.tsx'),
    'VulnerabilityList',
  ),
});

const assessments = createRoute({
  getParentRoute: () => root,
  path: '/assessments',
  validateSearch: assessmentSearchOf,
  component: lazyRouteComponent(() => import('../pages/assessments/assessment-list.tsx'), 'AssessmentList'),
});

const assessmentPage = createRoute({
  getParentRoute: () => root,
  path: '/assessments/$uid',
  validateSearch: assessmentTabOf,
  component: lazyRouteComponent(() => import('../pages/assessments/assessment-page.tsx'), 'AssessmentPage'),
});

const groups = createRoute({
  getParentRoute: () => root,
  path: '/groups',
  validateSearch: groupSearchOf,
  component: lazyRouteComponent(() => import('../pages/groups/group-list.tsx'), 'GroupList'),
});

const groupPage = createRoute({
  getParentRoute: () => root,
  path: '/groups/$id',
  validateSearch: groupRoleOf,
  component: lazyRouteComponent(() => import('../pages/groups/group-page.tsx'), 'GroupPage'),
});

const people = createRoute({
  getParentRoute: () => root,
  path: '/people',
  validateSearch: peopleSearchOf,
  component: lazyRouteComponent(() => import('../pages/people/people-list.tsx'), 'PeopleList'),
});

const personPage = createRoute({
  getParentRoute: () => root,
  path: '/people/$id',
  component: lazyRouteComponent(() => import('../pages/people/person-page.tsx'), 'PersonPage'),
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
    () => import('../pages/vulnerability/new-vulnerability-page.tsx'),
    'NewVulnerability',
  ),
});

const oneVulnerability = createRoute({
  getParentRoute: () => root,
  path: '/vulnerabilities/$id',
  component: lazyRouteComponent(
    () => import('../pages/vulnerability/vulnerability-page.tsx'),
    'VulnerabilityPage',
  ),
});

const editVulnerability = createRoute({
  getParentRoute: () => root,
  path: '/vulnerabilities/$id/edit',
  component: lazyRouteComponent(
    () => import('../pages/vulnerability/edit-vulnerability-page.tsx'),
    'EditVulnerability',
  ),
});

const tags = createRoute({
  getParentRoute: () => root,
  path: '/tags',
  validateSearch: tagsSearch,
  component: lazyRouteComponent(() => import('../pages/tags/tag-list.tsx'), 'Tags'),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('../pages/audit/audit-list.tsx'), 'Audit'),
});

const assets = createRoute({
  getParentRoute: () => root,
  path: '/assets',
  validateSearch: assetSearchOf,
  component: lazyRouteComponent(() => import('../pages/assets/asset-list.tsx'), 'AssetList'),
});

const oneAsset = createRoute({
  getParentRoute: () => root,
  path: '/assets/$uid',
  component: lazyRouteComponent(() => import('../pages/assets/asset-page.tsx'), 'AssetPage'),
});

const imports = createRoute({
  getParentRoute: () => root,
  path: '/imports',
  validateSearch: importSearchOf,
  component: lazyRouteComponent(() => import('../pages/imports/import-list.tsx'), 'ImportList'),
});

const oneImport = createRoute({
  getParentRoute: () => root,
  path: '/imports/$id',
  component: lazyRouteComponent(() => import('../pages/imports/import-page.tsx'), 'ImportPage'),
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
