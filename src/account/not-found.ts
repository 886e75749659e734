import { notFound } from '../domain/shared/errors.ts';
import type { RouteRegistrar } from '../http/register-area.ts';

/** Whoever mistypes the address of a page is told so by a page, not in the shape that programs read. */
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
