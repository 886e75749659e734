import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { NotFoundPage, PageError } from './error-pages.tsx';
import { Shell } from './shell.tsx';
import {
  parseAssessmentSearch,
  parseAssessmentTab,
  parseGroupRole,
  parseGroupSearch,
  parsePeopleSearch,
  parseAuditSearch,
  parseTagsSearch,
  parseAssetSearch,
  parseImportSearch,
  parseVulnerabilityListParams,
} from './search-params.ts';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFoundPage,
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/home/home-page.tsx'), 'HomePage'),
});

const vulnerabilities = createRoute({
  getParentRoute: () => root,
  path: '/vulnerabilities',
  validateSearch: parseVulnerabilityListParams,
  component: lazyRouteComponent(
    () => import('../pages/vulnerabilities/vulnerability-list.tsx'),
    'VulnerabilityList',
  ),
});

const assessments = createRoute({
  getParentRoute: () => root,
  path: '/assessments',
  validateSearch: parseAssessmentSearch,
  component: lazyRouteComponent(() => import('../pages/assessments/assessment-list.tsx'), 'AssessmentList'),
});

const assessmentPage = createRoute({
  getParentRoute: () => root,
  path: '/assessments/$uid',
  validateSearch: parseAssessmentTab,
  component: lazyRouteComponent(() => import('../pages/assessments/assessment-page.tsx'), 'AssessmentPage'),
});

const groups = createRoute({
  getParentRoute: () => root,
  path: '/groups',
  validateSearch: parseGroupSearch,
  component: lazyRouteComponent(() => import('../pages/groups/group-list.tsx'), 'GroupList'),
});

const groupPage = createRoute({
  getParentRoute: () => root,
  path: '/groups/$id',
  validateSearch: parseGroupRole,
  component: lazyRouteComponent(() => import('../pages/groups/group-page.tsx'), 'GroupPage'),
});

const people = createRoute({
  getParentRoute: () => root,
  path: '/people',
  validateSearch: parsePeopleSearch,
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
    'NewVulnerabilityPage',
  ),
});

const vulnerabilityPage = createRoute({
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
    'EditVulnerabilityPage',
  ),
});

const tags = createRoute({
  getParentRoute: () => root,
  path: '/tags',
  validateSearch: parseTagsSearch,
  component: lazyRouteComponent(() => import('../pages/tags/tags-page.tsx'), 'TagsPage'),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: parseAuditSearch,
  component: lazyRouteComponent(() => import('../pages/audit/audit-page.tsx'), 'AuditPage'),
});

const assets = createRoute({
  getParentRoute: () => root,
  path: '/assets',
  validateSearch: parseAssetSearch,
  component: lazyRouteComponent(() => import('../pages/assets/asset-list.tsx'), 'AssetList'),
});

const assetPage = createRoute({
  getParentRoute: () => root,
  path: '/assets/$uid',
  component: lazyRouteComponent(() => import('../pages/assets/asset-page.tsx'), 'AssetPage'),
});

const imports = createRoute({
  getParentRoute: () => root,
  path: '/imports',
  validateSearch: parseImportSearch,
  component: lazyRouteComponent(() => import('../pages/imports/import-list.tsx'), 'ImportList'),
});

const importPage = createRoute({
  getParentRoute: () => root,
  path: '/imports/$id',
  component: lazyRouteComponent(() => import('../pages/imports/import-page.tsx'), 'ImportPage'),
});

const routes = [
  home,
  vulnerabilities,
  newVulnerability,
  vulnerabilityPage,
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
  assetPage,
  imports,
  importPage,
];

/** The routes of the console; each page is loaded on demand. */
export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: 'intent',
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
