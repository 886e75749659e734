import { organizationNameOf } from '../domain/organizations.ts';
import type { RegisterRoutes } from '../http/area-plugin.ts';
import { sessionOf } from '../http/browser-sessions.ts';
import { sendPage } from '../pages/pages-plugin.tsx';
import { AccountPage } from './account-layout.tsx';

/** Who one is here. */
export const registerOverview: RegisterRoutes = (app, { db }) => {
  app.get(
    '/account',
    { config: { operation: 'account-page', access: 'session' }, schema: { hide: true } },
    async (request, reply) => {
      const session = sessionOf(request);
      const organization =
        session.organizationId === null ? null : await organizationNameOf(db.read, session.organizationId);
      return sendPage(
        request,
        reply,
        <AccountPage path="/account" title="Your account">
          <section>
            <dl>
              <dt>Name</dt>
              <dd>{session.name ?? 'none'}</dd>
              <dt>E-mail address</dt>
              <dd>{session.email}</dd>
              <dt>Organization</dt>
              <dd>{organization ?? 'Platform staff'}</dd>
              <dt>Role</dt>
              <dd>{session.staff ? 'Staff' : session.admin ? 'Admin' : 'User'}</dd>
            </dl>
          </section>
        </AccountPage>,
      );
    },
  );
};
