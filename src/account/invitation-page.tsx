import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { validatePassword } from '../auth/password-strength.ts';
import { hashPassword, MAX_TYPED_PASSWORD_LENGTH } from '../auth/passwords.ts';
import { fieldErrorMessage, DomainError } from '../domain/shared/errors.ts';
import { acceptInvitation, type Invitation, resolveInvitation } from '../domain/users/invitations.ts';
import { validateUserName } from '../domain/users/user-names.ts';
import { MAX_NAME_LENGTH } from '../domain/shared/names.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf } from '../http/browser-sessions.ts';
import { Button, Field, Form } from '../page-kit/forms.tsx';
import { Page } from '../page-kit/layout.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { InvalidLink, LINK_SCRIPTS, MAX_LINK_TOKEN_LENGTH } from './invalid-link.tsx';
import { NewPasswordField } from './new-password-field.tsx';
import { continueSignIn } from './sign-in-flow.ts';
import { MESSAGES } from './messages.ts';

const PATH = '/invitation';
/** Characters. Longer than names may be, so that the error is shown on the page. */
const MAX_TYPED_NAME_LENGTH = 1_024;

const TokenSchema = Type.String({ maxLength: MAX_LINK_TOKEN_LENGTH });
const InvitationFormSchema = Type.Object({
  token: TokenSchema,
  name: Type.String({ maxLength: MAX_TYPED_NAME_LENGTH }),
  password: Type.String({ maxLength: MAX_TYPED_PASSWORD_LENGTH }),
});

interface RejectedForm {
  name: string;
  nameError: string | undefined;
  passwordError: string | undefined;
}

const showInvalidLink = (request: FastifyRequest, reply: FastifyReply, status: 404 | 410) =>
  sendHtmlPage(
    request,
    reply,
    <InvalidLink title={MESSAGES.invitation.invalid}>
      <p>{MESSAGES.invitation.invalidWhy}</p>
      <p>{MESSAGES.invitation.requestNew}</p>
    </InvalidLink>,
    { status },
  );

const showForm = (
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  { email, name, organization }: Invitation,
  rejected?: RejectedForm,
) =>
  sendHtmlPage(
    request,
    reply,
    <Page title={MESSAGES.invitation.title} scripts={LINK_SCRIPTS}>
      <p>
        {MESSAGES.invitation.invited}
        {organization !== null && (
          <>
            {' '}
            {MESSAGES.invitation.by} <strong>{organization}</strong>
          </>
        )}
        {MESSAGES.invitation.signInAs} <strong>{email}</strong>.
      </p>
      <Form action={PATH}>
        <input type="hidden" name="token" value={token} />
        <Field
          name="name"
          label={MESSAGES.invitation.name}
          autocomplete="name"
          hint={MESSAGES.invitation.nameHint}
          value={rejected?.name ?? name ?? ''}
          error={rejected?.nameError}
          maxLength={MAX_NAME_LENGTH}
          autofocus={rejected === undefined || rejected.nameError !== undefined}
        />
        <NewPasswordField
          email={email}
          label={MESSAGES.invitation.password}
          error={rejected?.passwordError}
          autofocus={rejected !== undefined && rejected.nameError === undefined}
        />
        <Button>{MESSAGES.invitation.accept}</Button>
      </Form>
    </Page>,
    { status: rejected === undefined ? 200 : 422 },
  );

const showProvider = (request: FastifyRequest, reply: FastifyReply, { email, organization }: Invitation) =>
  sendHtmlPage(
    request,
    reply,
    <Page title={MESSAGES.invitation.title} scripts={LINK_SCRIPTS}>
      <p>
        {MESSAGES.invitation.invitedBy} <strong>{organization}</strong>
        {MESSAGES.invitation.sso} <strong>{email}</strong>.
      </p>
      <a class="button primary" href="/sign-in/organization">
        {MESSAGES.invitation.signInSso}
      </a>
    </Page>,
  );

/** The page of an invitation link, on which the user chooses a name and a password. */
export const registerInvitation: RouteRegistrar = (app, context) => {
  const { db, keys, config, clock } = context;

  const read = (token: string) =>
    resolveInvitation(db.read, keys.secret, token, config.invitationLifetime, clock());

  app.get(
    PATH,
    {
      config: { operation: 'invitation-page', access: 'open' },
      schema: { hide: true, querystring: Type.Object({ token: Type.Optional(TokenSchema) }) },
    },
    async (request, reply) => {
      const { token = '' } = request.query;
      const link = await read(token);
      if (link.state === 'unknown' || link.state === 'ended')
        return showInvalidLink(request, reply, link.state === 'ended' ? 410 : 404);
      if (link.state === 'provider') return showProvider(request, reply, link.invitation);
      return showForm(request, reply, token, link.invitation);
    },
  );

  app.post(
    PATH,
    {
      config: { operation: 'accept-invitation', access: 'open' },
      schema: { hide: true, body: InvitationFormSchema },
    },
    async (request, reply) => {
      const { token, name, password } = request.body;
      const link = await read(token);
      if (link.state === 'unknown' || link.state === 'ended')
        return showInvalidLink(request, reply, link.state === 'ended' ? 410 : 404);
      if (link.state === 'provider') return showProvider(request, reply, link.invitation);
      const { invitation } = link;

      const nameError = validateUserName(MESSAGES.invitation.name, name);
      const passwordError = await validatePassword(password, [
        invitation.email,
        name,
        invitation.organization ?? '',
      ]);
      if (nameError !== undefined || passwordError !== undefined) {
        return showForm(request, reply, token, invitation, {
          name,
          nameError: nameError && `${nameError.property} ${fieldErrorMessage(nameError)}.`,
          passwordError,
        });
      }
      const passwordHash = await hashPassword(password);
      try {
        await db.write((tx) =>
          acceptInvitation(tx, changeContextOf(request, clock()), invitation, { name, passwordHash }),
        );
      } catch (error) {
        // Another request accepted it first.
        if (error instanceof DomainError && error.kind === 'conflict')
          return showInvalidLink(request, reply, 410);
        throw error;
      }
      const { userId, organizationId } = invitation;
      return continueSignIn(
        context,
        request,
        reply,
        { userId, organizationId, method: 'invitation', passwordHash, isMultiFactor: false },
        undefined,
      );
    },
  );
};
