import { notFound } from '../domain/shared/errors.ts';
import type { RouteRegistrar } from '../http/register-area.ts';

/** Answers unknown pages with a page rather than with the API's error body. */
export const registerNotFound: RouteRegistrar = (app) => {
  for (const url of ['/account/*', '/sign-in/*']) {
    app.get(
      url,
      { config: { operation: 'unknown-page', access: 'open' }, schema: { hide: true } },
      async () => {
        throw notFound('page');
      },
    );
  }
};
