import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../context.ts';
import { emailHost, MAX_EMAIL_LENGTH } from '../auth/email-addresses.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { consumeChallenge } from '../domain/sign-in/challenges.ts';
import { recordDeniedIdentity, signInWithProvider } from '../domain/sign-in/sign-in-with-provider.ts';
import {
  type IdentityProvider,
  providerByEmail,
  providerByOrganization,
} from '../domain/sign-in/identity-providers.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf } from '../http/browser-sessions.ts';
import { isCrossOrigin } from '../http/fetch-metadata.ts';
import { Problem } from '../http/problems.ts';
import { safeReturnPath } from '../page-kit/paths.ts';
import { Button, Field, Form, Notice } from '../page-kit/forms.tsx';
import { Page } from '../page-kit/layout.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { MAX_RETURN_TO, pendingSignInCookie } from '../sso/pending-sign-in.ts';
import { beginSignIn, finishSignIn, ProviderError } from '../sso/provider.ts';
import { ProviderCache } from '../sso/provider-cache.ts';
import { callbackUrl } from '../sso/provider-setup.ts';
import { continueSignIn } from './sign-in-flow.ts';
import { MAX_RETURN_LENGTH, ReturnToQuery } from './sign-in-page.tsx';
import { MESSAGES } from './messages.ts';

const EmailSchema = Type.String({ maxLength: MAX_EMAIL_LENGTH });
const ReturnTo = Type.Optional(Type.String({ maxLength: MAX_RETURN_LENGTH }));
const EmailFormSchema = Type.Object({ email: EmailSchema, to: ReturnTo });
const OrganizationPathSchema = Type.Object({ organization: Type.String({ maxLength: 50 }) });

const ParameterSchema = Type.Optional(Type.String({ maxLength: 4_096 }));
/** RFC 6749, sections 4.1.2 and 4.1.2.1; RFC 9207. Other parameters are ignored. */
const AuthorizationResponseSchema = Type.Object({
  code: ParameterSchema,
  state: ParameterSchema,
  iss: ParameterSchema,
  error: ParameterSchema,
  error_description: ParameterSchema,
});

const PROVIDER_MESSAGES: Readonly<Record<ProviderError['kind'], { status: number; message: string }>> = {
  denied: {
    status: 403,
    message: MESSAGES.sso.denied,
  },
  unreachable: {
    status: 502,
    message: MESSAGES.sso.unreachable,
  },
  foreign: {
    status: 400,
    message: MESSAGES.sso.foreign,
  },
  wrong: {
    status: 502,
    message: MESSAGES.sso.invalid,
  },
};

/** Signs in through the organization's OpenID Connect provider. */
export const registerOrganizationSignIn: RouteRegistrar = (app, context) => {
  const { db } = context;

  app.get(
    '/sign-in/organization',
    {
      config: { operation: 'organization-sign-in-page', access: 'open' },
      schema: { hide: true, querystring: ReturnToQuery },
    },
    async (request, reply) => {
      const { to: returnTo } = request.query;
      if (request.session?.state === 'complete') return reply.redirect(safeReturnPath(returnTo), 303);
      return sendHtmlPage(request, reply, <EmailPage returnTo={safeReturnPath(returnTo)} />);
    },
  );

  app.post(
    '/sign-in/organization',
    {
      config: { operation: 'organization-sign-in', access: 'open' },
      schema: { hide: true, body: EmailFormSchema },
    },
    async (request, reply) => {
      const { email, to: returnTo } = request.body;
      const provider = await providerByEmail(db.read, email);
      if (provider === undefined) {
        const page = <EmailPage returnTo={safeReturnPath(returnTo)} unknown={email} />;
        return sendHtmlPage(request, reply, page, { status: 422 });
      }
      return sendHtmlPage(
        request,
        reply,
        <ContinuePage provider={provider} email={email} returnTo={safeReturnPath(returnTo)} />,
      );
    },
  );
  registerProviderRedirects(app, context);
};

/** Sends users to the provider of their organization, and signs them in when they return. */
const registerProviderRedirects: RouteRegistrar = (app, context) => {
  const { db, clock, log } = context;
  const providers = new ProviderCache(context);

  app.get(
    '/sign-in/organization/start',
    {
      config: { operation: 'organization-sign-in-start', access: 'open' },
      schema: { hide: true, querystring: EmailFormSchema },
    },
    async (request, reply) => {
      const { email } = request.query;
      const returnTo = safeReturnPath(request.query.to);
      if (returnTo.length > MAX_RETURN_TO) {
        throw new Problem('invalid-request', MESSAGES.sso.returnTooLong(MAX_RETURN_TO));
      }
      const provider = await providerByEmail(db.read, email);
      // Users have to follow the link on this page, so that no other site can start a sign-in (OWASP ASVS 5, 7.6.2).
      if (provider === undefined || isCrossOrigin(request))
        return reply.redirect(`/sign-in/organization?${new URLSearchParams({ to: returnTo })}`, 303);
      try {
        const { organization, issuer, clientId, groupsClaim } = provider;
        const { url, secrets } = await beginSignIn(await providers.discover(provider), {
          redirectUri: callbackUrl(context.addresses, organization),
          loginHint: email,
          groupsClaim,
        });
        pendingSignInCookie.set(context, reply, { ...secrets, organization, issuer, clientId, returnTo });
        return reply.redirect(url.href, 303);
      } catch (error) {
        return showProblem(context, request, reply, provider, error, returnTo);
      }
    },
  );

  app.get(
    '/sign-in/organization/callback/:organization',
    {
      config: { operation: 'organization-sign-in-callback', access: 'open' },
      schema: { hide: true, params: OrganizationPathSchema, querystring: AuthorizationResponseSchema },
    },
    async (request, reply) => {
      const attempt = pendingSignInCookie.take(context, request, reply);
      const provider = attempt && (await providerByOrganization(db.read, attempt.organization));
      if (
        attempt === undefined ||
        provider === undefined ||
        // Each organization has its own redirect URI, so that one provider cannot pass on the response of another
        // (RFC 9700, section 4.4.2).
        request.params.organization !== attempt.organization ||
        provider.issuer !== attempt.issuer ||
        provider.clientId !== attempt.clientId
      ) {
        const reason = attempt === undefined ? 'no attempt in this browser' : 'attempt with another provider';
        log.warn({ requestId: request.id, reason }, 'single sign-on was not started here');
        return sendHtmlPage(request, reply, <NotStartedPage />, { status: 400 });
      }
      try {
        const callback = new URL(callbackUrl(context.addresses, provider.organization));
        callback.search = new URL(request.url, callback).search;
        const identity = await finishSignIn(
          await providers.discover(provider),
          callback,
          attempt,
          provider.groupsClaim,
        );
        const by = changeContextOf(request, clock());
        const account = await db.write(async (tx) => {
          if (!(await consumeChallenge(tx, attempt.state, attempt.expiresAt, by.now)))
            throw new ProviderError('foreign', 'the attempt was used before');
          return signInWithProvider(tx, by, provider, identity);
        });
        // The provider decides how many factors a sign-in takes.
        return await continueSignIn(
          context,
          request,
          reply,
          { ...account, method: 'sso', isMultiFactor: true },
          attempt.returnTo,
        );
      } catch (error) {
        return showProblem(context, request, reply, provider, error, attempt.returnTo);
      }
    },
  );
};

async function showProblem(
  { log, clock, deniedAttempts }: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  provider: IdentityProvider,
  error: unknown,
  returnTo: string,
): Promise<FastifyReply> {
  const { status, message, reason } = outcomeOf(error);
  const { organization, issuer } = provider;
  log.warn({ requestId: request.id, organization, issuer, reason }, 'single sign-on failed');
  recordDeniedIdentity(deniedAttempts, changeContextOf(request, clock()), provider, reason);
  return sendHtmlPage(
    request,
    reply,
    <NotSignedInPage message={message} returnTo={returnTo} requestId={request.id} />,
    { status },
  );
}

/** @throws errors that are neither rejections nor problems with the provider */
function outcomeOf(error: unknown): { status: number; message: string; reason: string } {
  if (error instanceof ProviderError) return { ...PROVIDER_MESSAGES[error.kind], reason: error.reason };
  if (error instanceof DomainError && error.kind === 'forbidden')
    return { status: 403, message: error.message, reason: error.message };
  throw error;
}

function EmailPage({ returnTo, unknown }: { returnTo: string; unknown?: string }) {
  return (
    <Page title={MESSAGES.sso.title}>
      <Form action="/sign-in/organization">
        <input type="hidden" name="to" value={returnTo} />
        <Field
          name="email"
          label={MESSAGES.sso.email}
          type="email"
          autocomplete="username"
          value={unknown}
          hint={MESSAGES.sso.emailHint}
          error={unknown === undefined ? undefined : unknownDomain(unknown)}
          maxLength={MAX_EMAIL_LENGTH}
          autofocus
        />
        <Button>{MESSAGES.sso.continue}</Button>
      </Form>
      <p class="hint">
        <a href={`/sign-in?${new URLSearchParams({ to: returnTo })}`}>{MESSAGES.sso.usePassword}</a>
      </p>
    </Page>
  );
}

function unknownDomain(email: string): string {
  const domain = emailHost(email);
  return MESSAGES.sso.unknownDomain(domain);
}

function ContinuePage({
  provider,
  email,
  returnTo,
}: {
  provider: IdentityProvider;
  email: string;
  returnTo: string;
}) {
  const { host } = new URL(provider.issuer);
  return (
    <Page title={MESSAGES.sso.title}>
      <section class="stack">
        <p>
          {provider.organizationName} {MESSAGES.sso.signsInAt} <strong>{host}</strong>
          {MESSAGES.sso.redirect}
        </p>
        {/* A link, because browsers apply the page's form-action to the redirect of a form. */}
        <p>
          <a
            class="button primary"
            href={`/sign-in/organization/start?${new URLSearchParams({ email, to: returnTo })}`}
          >
            {MESSAGES.sso.continueTo} {host}
          </a>
        </p>
      </section>
    </Page>
  );
}

function NotStartedPage() {
  return (
    <Page title={MESSAGES.sso.restartTitle}>
      <section class="stack">
        <p>{MESSAGES.sso.expired}</p>
        <p>
          <a class="button primary" href="/sign-in/organization">
            {MESSAGES.sso.startAgain}
          </a>
        </p>
      </section>
    </Page>
  );
}

function NotSignedInPage({
  message,
  returnTo,
  requestId,
}: {
  message: string;
  returnTo: string;
  requestId: string;
}) {
  return (
    <Page title={MESSAGES.sso.notSignedIn}>
      <Notice kind="error">{message}</Notice>
      <section class="stack">
        <p>
          <a class="button primary" href={`/sign-in/organization?${new URLSearchParams({ to: returnTo })}`}>
            {MESSAGES.sso.tryAgain}
          </a>
        </p>
        <p class="hint">
          {MESSAGES.sso.request} <code>{requestId}</code>
        </p>
      </section>
    </Page>
  );
}
