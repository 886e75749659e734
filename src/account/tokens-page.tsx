import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../context.ts';
import {
  defaultScopes,
  isReadOnlyScope,
  isScope,
  type Scope,
  SCOPES,
  grantableScopes,
} from '../auth/scopes.ts';
import { DomainError, invalidInput, isInputError } from '../domain/shared/errors.ts';
import { MAX_NAME_LENGTH } from '../domain/shared/names.ts';
import { issueToken, type IssuedToken, MAX_USER_TOKENS, revokeUserToken } from '../domain/tokens/tokens.ts';
import { listUserTokens, type UserToken } from '../domain/tokens/token-list.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf, requireSignedInSession } from '../http/browser-sessions.ts';
import { SecretField } from '../page-kit/copy-field.tsx';
import { Button, Form, Notice } from '../page-kit/forms.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { RelativeTime } from '../page-kit/relative-time.tsx';
import { Section } from '../page-kit/section.tsx';
import { AccountPage } from './account-layout.tsx';
import {
  EXPIRIES,
  MAX_ADDRESSES_LENGTH,
  type ScopePreset,
  type TokenFields,
  TokenForm,
} from './token-form.tsx';
import { LastUse } from './last-use.tsx';
import { MESSAGES } from './messages.ts';

const PATH = '/account/tokens';
const DAY = 86_400_000;
const MAX_ID_LENGTH = 64;
const MAX_ADDRESSES = 50;
const MAX_SCOPES = 50;

const ScopeSchema = Type.String({ maxLength: 40 });
const NewTokenFormSchema = Type.Object({
  name: Type.String({ maxLength: MAX_NAME_LENGTH }),
  preset: Type.Optional(Type.Union([Type.Literal('read'), Type.Literal('all'), Type.Literal('chosen')])),
  // A form sends one checked box as a string and several as an array; without any, it omits the field.
  scopes: Type.Optional(Type.Union([ScopeSchema, Type.Array(ScopeSchema, { maxItems: MAX_SCOPES })])),
  expires: Type.Union(Object.keys(EXPIRIES).map((days) => Type.Literal(days))),
  addresses: Type.Optional(Type.String({ maxLength: MAX_ADDRESSES_LENGTH })),
});

interface PageState {
  issued?: IssuedToken;
  revoked?: boolean;
  rejected?: { fields: TokenFields; failure: DomainError };
}

const show = async (
  { config, db, clock }: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { issued, revoked = false, rejected }: PageState = {},
) => {
  const session = requireSignedInSession(request);
  const tokens = await listUserTokens(db.read, session.userId, clock());
  const allowed = grantableScopes(session);
  const fields = rejected?.fields ?? {
    name: '',
    preset: undefined,
    scopes: [],
    expires: '90',
    addresses: '',
  };
  return sendHtmlPage(
    request,
    reply,
    <AccountPage path={PATH}>
      {revoked && <Notice kind="success">{MESSAGES.tokens.revoked}</Notice>}
      {issued !== undefined && <IssuedTokenNotice token={issued.token} />}
      <Section title={MESSAGES.tokens.yours}>
        {tokens.length === 0 ? (
          <p>{MESSAGES.tokens.none}</p>
        ) : (
          <ul class="rows">
            {tokens.map((token) => (
              <TokenRow key={token.id} {...token} />
            ))}
          </ul>
        )}
      </Section>
      <Section title={MESSAGES.tokens.new}>
        <TokenForm
          action={PATH}
          allowed={allowed}
          fields={fields}
          errors={rejected?.failure.fieldErrors ?? []}
          readingScopesTag={!config.strictScopes}
        />
      </Section>
    </AccountPage>,
    { status: rejected === undefined ? 200 : 422 },
  );
};

/** Creates, lists and revokes the user's tokens. */
export const registerTokens: RouteRegistrar = (app, context) => {
  const { db, keys, clock } = context;

  app.get(
    PATH,
    {
      config: { operation: 'tokens-page', access: 'session' },
      schema: {
        hide: true,
        querystring: Type.Object({ done: Type.Optional(Type.String({ maxLength: 20 })) }),
      },
    },
    async (request, reply) => show(context, request, reply, { revoked: request.query.done === 'revoked' }),
  );

  app.post(
    PATH,
    {
      config: { operation: 'create-token', access: 'session' },
      schema: { hide: true, body: NewTokenFormSchema },
    },
    async (request, reply) => {
      const { userId } = requireSignedInSession(request);
      const { name, expires, addresses = '' } = request.body;
      const checkedScopes = [request.body.scopes ?? []].flat();
      // A form without the presets sends only the checkboxes.
      const preset = request.body.preset ?? (checkedScopes.length === 0 ? undefined : 'chosen');
      const fields = { name, preset, scopes: checkedScopes, expires, addresses };
      const scopes = scopesOfPreset(preset, checkedScopes, grantableScopes(requireSignedInSession(request)));
      const now = clock();
      const expiresAt = expires === 'never' ? null : now + Number(expires) * DAY;
      const allowedAddresses = addresses.split(/[\s,;]+/).filter((block) => block !== '');
      try {
        if (allowedAddresses.length > MAX_ADDRESSES)
          throw invalidInput({
            property: 'allowedAddresses',
            code: 'too-many',
            params: { max: MAX_ADDRESSES },
          });
        const tokenRequest = {
          userId,
          kind: 'personal',
          name,
          scopes,
          expiresAt,
          allowedAddresses,
          atMost: MAX_USER_TOKENS,
        } as const;
        const issued = await db.write((tx) =>
          issueToken(tx, changeContextOf(request, now), keys, tokenRequest),
        );
        return await show(context, request, reply, { issued });
      } catch (failure) {
        if (!(failure instanceof DomainError) || !isInputError(failure)) throw failure;
        return show(context, request, reply, { rejected: { fields, failure } });
      }
    },
  );

  app.post(
    `${PATH}/revoke`,
    {
      config: { operation: 'revoke-token', access: 'session' },
      schema: { hide: true, body: Type.Object({ token: Type.String({ maxLength: MAX_ID_LENGTH }) }) },
    },
    async (request, reply) => {
      const { userId } = requireSignedInSession(request);
      await db.write((tx) =>
        revokeUserToken(tx, changeContextOf(request, clock()), userId, request.body.token),
      );
      return reply.redirect(`${PATH}?done=revoked`, 303);
    },
  );
};

function scopesOfPreset(
  preset: ScopePreset | undefined,
  checkedScopes: readonly string[],
  allowed: readonly Scope[],
): readonly string[] {
  if (preset === 'all') return defaultScopes(allowed);
  return preset === 'read' ? allowed.filter(isReadOnlyScope) : checkedScopes;
}

function IssuedTokenNotice({ token }: { token: string }) {
  return (
    <section class="stack">
      <Notice kind="success">{MESSAGES.tokens.created}</Notice>
      <SecretField text={token} label={MESSAGES.tokens.copy} />
      <p class="hint">
        {MESSAGES.tokens.sendAs} <code>{MESSAGES.tokens.header}</code>
        {MESSAGES.tokens.secret}
      </p>
    </section>
  );
}

function TokenRow({
  id,
  kind,
  name,
  scopes,
  allowedAddresses,
  createdAt,
  expiresAt,
  lastUsedAt,
  lastUsedFrom,
  createdBy,
}: UserToken) {
  const title = name ?? (kind === 'personal' ? MESSAGES.tokens.personal : MESSAGES.tokens.jwt);
  return (
    <li>
      <div class="what">
        <h3>{title}</h3>
        <p class="hint">
          {MESSAGES.tokens.createdAt} <RelativeTime at={createdAt} />.{' '}
          {expiresAt === null ? (
            MESSAGES.tokens.noExpiry
          ) : (
            <>
              Expires <RelativeTime at={expiresAt} />.
            </>
          )}{' '}
          <LastUse at={lastUsedAt} address={lastUsedFrom} />
        </p>
        <p class="hint">
          {scopes.filter(isScope).map((scope, index) => (
            <span key={scope}>
              {index > 0 && ' '}
              <code title={SCOPES[scope]}>{scope}</code>
            </span>
          ))}
        </p>
        {createdBy !== null && <p class="hint">{MESSAGES.tokens.createdBy(createdBy)}</p>}
        {allowedAddresses.length > 0 && (
          <p class="hint">
            {MESSAGES.tokens.onlyFrom} {allowedAddresses.join(', ')}
          </p>
        )}
      </div>
      <Form action={`${PATH}/revoke`}>
        <input type="hidden" name="token" value={id} />
        <Button kind="danger" label={MESSAGES.tokens.revokeNamed(title)}>
          Revoke
        </Button>
      </Form>
    </li>
  );
}
