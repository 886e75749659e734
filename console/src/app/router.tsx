import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { NotFoundPage, PageError } from './error-pages.tsx';
import { lazyPage } from './missing-part.ts';
import { Shell } from './shell.tsx';
import {
  parseAssessmentSearch,
  parseAssessmentTab,
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
  component: lazyPage(() => import('../pages/home/home-page.tsx'), 'HomePage'),
});

const vulnerabilities = createRoute({
  getParentRoute: () => root,
  path: '/vulnerabilities',
  validateSearch: parseVulnerabilityListParams,
  component: lazyPage(() => import('../pages/vulnerabilities/vulnerability-list.tsx'), 'VulnerabilityList'),
});

const assessments = createRoute({
  getParentRoute: () => root,
  path: '/assessments',
  validateSearch: parseAssessmentSearch,
  component: lazyPage(() => import('../pages/assessments/assessment-list.tsx'), 'AssessmentList'),
});

const assessmentPage = createRoute({
  getParentRoute: () => root,
  path: '/assessments/$uid',
  validateSearch: parseAssessmentTab,
  component: lazyPage(() => import('../pages/assessments/assessment-page.tsx'), 'AssessmentPage'),
});

const groups = createRoute({
  getParentRoute: () => root,
  path: '/groups',
  validateSearch: parseGroupSearch,
  component: lazyPage(() => import('../pages/groups/group-list.tsx'), 'GroupList'),
});

const groupPage = createRoute({
  getParentRoute: () => root,
  path: '/groups/$id',
  component: lazyPage(() => import('../pages/groups/group-page.tsx'), 'GroupPage'),
});

const people = createRoute({
  getParentRoute: () => root,
  path: '/people',
  validateSearch: parsePeopleSearch,
  component: lazyPage(() => import('../pages/people/people-list.tsx'), 'PeopleList'),
});

const personPage = createRoute({
  getParentRoute: () => root,
  path: '/people/$id',
  component: lazyPage(() => import('../pages/people/person-page.tsx'), 'PersonPage'),
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
  component: lazyPage(
    () => import('../pages/vulnerability/new-vulnerability-page.tsx'),
    'NewVulnerabilityPage',
  ),
});

const vulnerabilityPage = createRoute({
  getParentRoute: () => root,
  path: '/vulnerabilities/$id',
  component: lazyPage(() => import('../pages/vulnerability/vulnerability-page.tsx'), 'VulnerabilityPage'),
});

const editVulnerability = createRoute({
  getParentRoute: () => root,
  path: '/vulnerabilities/$id/edit',
  component: lazyPage(
    () => import('../pages/vulnerability/edit-vulnerability-page.tsx'),
    'EditVulnerabilityPage',
  ),
});

const tags = createRoute({
  getParentRoute: () => root,
  path: '/tags',
  validateSearch: parseTagsSearch,
  component: lazyPage(() => import('../pages/tags/tags-page.tsx'), 'TagsPage'),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: parseAuditSearch,
  component: lazyPage(() => import('../pages/audit/audit-page.tsx'), 'AuditPage'),
});

const assets = createRoute({
  getParentRoute: () => root,
  path: '/assets',
  validateSearch: parseAssetSearch,
  component: lazyPage(() => import('../pages/assets/asset-list.tsx'), 'AssetList'),
});

const assetPage = createRoute({
  getParentRoute: () => root,
  path: '/assets/$uid',
  component: lazyPage(() => import('../pages/assets/asset-page.tsx'), 'AssetPage'),
});

const imports = createRoute({
  getParentRoute: () => root,
  path: '/imports',
  validateSearch: parseImportSearch,
  component: lazyPage(() => import('../pages/imports/import-list.tsx'), 'ImportList'),
});

const importPage = createRoute({
  getParentRoute: () => root,
  path: '/imports/$id',
  component: lazyPage(() => import('../pages/imports/import-page.tsx'), 'ImportPage'),
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
