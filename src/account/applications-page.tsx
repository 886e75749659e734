import { Type } from 'typebox';
import { isScope, SCOPES } from '../auth/scopes.ts';
import {
  type ConnectedApplication,
  listConnectedApplications,
  revokeConsent,
} from '../domain/tokens/consents.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf, requireSignedInSession } from '../http/browser-sessions.ts';
import { Button, Form, Notice } from '../page-kit/forms.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { RelativeTime } from '../page-kit/relative-time.tsx';
import { Section } from '../page-kit/section.tsx';
import { AccountPage } from './account-layout.tsx';
import { LastUse } from './last-use.tsx';
import { MESSAGES } from './messages.ts';

const PATH = '/account/applications';
const MAX_CLIENT_ID_LENGTH = 100;

/** Lists the applications that the user allowed, and removes their access. */
export const registerApplications: RouteRegistrar = (app, { db, clock }) => {
  app.get(
    PATH,
    {
      config: { operation: 'applications-page', access: 'session' },
      schema: {
        hide: true,
        querystring: Type.Object({ done: Type.Optional(Type.String({ maxLength: 20 })) }),
      },
    },
    async (request, reply) => {
      const applications = await listConnectedApplications(db.read, requireSignedInSession(request).userId);
      return sendHtmlPage(
        request,
        reply,
        <AccountPage path={PATH}>
          {request.query.done === 'withdrawn' && (
            <Notice kind="success">{MESSAGES.applications.revoked}</Notice>
          )}
          <Section title={MESSAGES.applications.title} hint={MESSAGES.applications.intro}>
            {applications.length === 0 ? (
              <p>{MESSAGES.applications.none}</p>
            ) : (
              <ul class="rows">
                {applications.map((application) => (
                  <Application key={application.clientId} {...application} />
                ))}
              </ul>
            )}
          </Section>
        </AccountPage>,
      );
    },
  );

  app.post(
    PATH,
    {
      config: { operation: 'withdraw-consent', access: 'session' },
      schema: {
        hide: true,
        body: Type.Object({ client: Type.String({ maxLength: MAX_CLIENT_ID_LENGTH }) }),
      },
    },
    async (request, reply) => {
      const { userId, organizationId } = requireSignedInSession(request);
      const consenter = { userId, organizationId, clientId: request.body.client };
      await db.write((tx) => revokeConsent(tx, changeContextOf(request, clock()), consenter));
      return reply.redirect(`${PATH}?done=withdrawn`, 303);
    },
  );
};

function Application({ clientId, name, scopes, connectedAt, lastUse }: ConnectedApplication) {
  return (
    <li>
      <div class="what">
        <h3>{name}</h3>
        <ul class="bullets">
          {scopes.filter(isScope).map((scope) => (
            <li key={scope}>
              {SCOPES[scope]} <code>{scope}</code>
            </li>
          ))}
        </ul>
        <p class="hint">
          Allowed <RelativeTime at={connectedAt} />.{' '}
          <LastUse
            at={lastUse?.at ?? null}
            address={lastUse?.address ?? null}
            unused={MESSAGES.applications.unused}
          />
        </p>
      </div>
      <Form action={PATH}>
        <input type="hidden" name="client" value={clientId} />
        <Button kind="danger" label={MESSAGES.applications.removeAccessOf(name)}>
          {MESSAGES.applications.removeAccess}
        </Button>
      </Form>
    </li>
  );
}
