import type { FastifyReply, FastifyRequest } from 'fastify';
import { fieldErrorMessage } from '../domain/shared/errors.ts';
import { Type } from 'typebox';
import { summarizeAccount } from '../domain/sign-in/account-summaries.ts';
import { validateUserName } from '../domain/users/user-names.ts';
import { MAX_NAME_LENGTH } from '../domain/shared/names.ts';
import { hasUsablePassword, hasSecondFactor, secondFactorsOf } from '../domain/sign-in/second-factors.ts';
import { renameUser } from '../domain/users/users.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf, sessionLimits, requireSignedInSession } from '../http/browser-sessions.ts';
import { Button, Field, Form, Notice } from '../page-kit/forms.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { RelativeTime } from '../page-kit/relative-time.tsx';
import { Section } from '../page-kit/section.tsx';
import { AccountPage } from './account-layout.tsx';
import { signInMethodLabel } from './sessions-page.tsx';
import { MESSAGES } from './messages.ts';

const PATH = '/account';

/** Shows the user's profile and what can act for the account. */
export const registerOverview: RouteRegistrar = (app, context) => {
  const { db, clock } = context;

  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { renamed = false, rejected }: { renamed?: boolean; rejected?: { name: string; error: string } } = {},
  ) => {
    const session = requireSignedInSession(request);
    const { userId } = session;
    const factors = await secondFactorsOf(db.read, userId);
    const usesPassword = await hasUsablePassword(db.read, userId);
    const counts = await summarizeAccount(db.read, userId, sessionLimits(context), clock());
    return sendHtmlPage(
      request,
      reply,
      <AccountPage path={PATH}>
        {renamed && <Notice kind="success">{MESSAGES.overview.renamed}</Notice>}
        <Section title={MESSAGES.overview.profile}>
          <dl>
            <dt>{MESSAGES.overview.email}</dt>
            <dd>{session.email}</dd>
            <dt>Organization</dt>
            <dd>{session.organizationName ?? MESSAGES.overview.platformStaff}</dd>
            <dt>Role</dt>
            <dd>{session.staff ? 'Staff' : session.admin ? 'Admin' : 'User'}</dd>
            <dt>{MESSAGES.overview.signedIn}</dt>
            <dd>
              <RelativeTime at={session.createdAt} /> {signInMethodLabel(session.method)}
            </dd>
          </dl>
        </Section>
        <Section title={MESSAGES.overview.name} hint={MESSAGES.overview.nameHint}>
          <Form action={`${PATH}/name`}>
            <Field
              name="name"
              label="Name"
              autocomplete="name"
              value={rejected?.name ?? session.name ?? ''}
              error={rejected?.error}
              maxLength={MAX_NAME_LENGTH}
            />
            <Button>{MESSAGES.overview.saveName}</Button>
          </Form>
        </Section>
        <Section title={MESSAGES.overview.access}>
          <dl>
            <dt>
              <a href="/account/security">{MESSAGES.overview.secondFactor}</a>
            </dt>
            <dd>
              {hasSecondFactor(factors) ? 'On' : usesPassword ? MESSAGES.overview.off : MESSAGES.overview.sso}
            </dd>
            <dt>
              <a href="/account/sessions">Sessions</a>
            </dt>
            <dd>{pluralize(counts.sessions, 'browser', 'browsers')}</dd>
            <dt>
              <a href="/account/tokens">Tokens</a>
            </dt>
            <dd>{pluralize(counts.tokens, 'token', 'tokens')}</dd>
            <dt>
              <a href="/account/applications">Applications</a>
            </dt>
            <dd>{pluralize(counts.applications, 'application', 'applications')}</dd>
          </dl>
        </Section>
      </AccountPage>,
      { status: rejected === undefined ? 200 : 422 },
    );
  };

  app.get(
    PATH,
    {
      config: { operation: 'account-page', access: 'session' },
      schema: {
        hide: true,
        querystring: Type.Object({ done: Type.Optional(Type.String({ maxLength: 20 })) }),
      },
    },
    async (request, reply) => show(request, reply, { renamed: request.query.done === 'renamed' }),
  );

  app.post(
    `${PATH}/name`,
    {
      config: { operation: 'rename-account', access: 'session' },
      schema: { hide: true, body: Type.Object({ name: Type.String({ maxLength: 1_024 }) }) },
    },
    async (request, reply) => {
      const { userId } = requireSignedInSession(request);
      const { name } = request.body;
      const nameError = validateUserName(MESSAGES.overview.theName, name);
      if (nameError !== undefined)
        return show(request, reply, {
          rejected: { name, error: `${nameError.property} ${fieldErrorMessage(nameError)}.` },
        });
      await db.write((tx) => renameUser(tx, changeContextOf(request, clock()), userId, name));
      return reply.redirect(`${PATH}?done=renamed`, 303);
    },
  );
};

function pluralize(count: number, singular: string, plural: string): string {
  return `${count} ${count === 1 ? singular : plural}`;
}
