import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { errorText } from '../parts/notices.tsx';
import { Empty } from '../parts/empty.tsx';
import { Shell } from './shell.tsx';
import { searchOf } from '../places/vulnerabilities/search.ts';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <Empty title="Nothing is here">The address may be mistyped, or what it named is gone.</Empty>
  ),
  errorComponent: ({ error }) => <Empty title="This could not be shown">{errorText(error)}</Empty>,
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('../places/home/home.tsx'), 'Home'),
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

const places = [home, vulnerabilities];

/** Every address of the console; each place is loaded when somebody goes there. */
export const router = createRouter({
  routeTree: root.addChildren(places),
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
