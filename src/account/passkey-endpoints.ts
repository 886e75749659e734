import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { MAX_RESPONSE_LENGTH, relyingPartyOf, verifyPasskeyRegistration } from '../auth/webauthn.ts';
import type { Context } from '../context.ts';
import type { PasskeyAssertion } from '../domain/sign-in/verify-passkey.ts';
import { type NewPasskey, passkeyDescriptors } from '../domain/sign-in/passkeys.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { SignInRequired } from '../http/browser-sessions.ts';
import { defineEncryptedCookie } from '../http/encrypted-cookie.ts';

/** Milliseconds, long enough to find a security key. */
const CHALLENGE_LIFETIME = 300_000;

/**
 * The purpose of a passkey request: to sign in, to prove the second factor, to confirm the identity, or to add a
 * passkey.
 */
export type PasskeyPurpose = 'sign-in' | 'second-factor' | 'confirm' | 'add';

interface Challenge {
  challenge: string;
  purpose: PasskeyPurpose;
  /** The session of the request; `null` before sign-in. */
  session: string | null;
}

const challengeCookie = defineEncryptedCookie<Challenge>('passkey', 'passkey challenge', CHALLENGE_LIFETIME);

/** The field in which `assets/passkeys.js` sends the authenticator's response. */
export const CredentialSchema = Type.String({ maxLength: MAX_RESPONSE_LENGTH });

const QuerySchema = Type.Object({
  for: Type.Union([
    Type.Literal('sign-in'),
    Type.Literal('second-factor'),
    Type.Literal('confirm'),
    Type.Literal('add'),
  ]),
});

/** Returns the options of a passkey request to the script, and sets the cookie with its challenge. */
export const registerPasskeyOptions: RouteRegistrar = (app, context) => {
  app.get(
    '/passkeys/options',
    {
      config: { operation: 'passkey-options', access: 'open' },
      schema: { hide: true, querystring: QuerySchema },
    },
    async (request, reply) => {
      const purpose = request.query.for;
      const session = sessionFor(purpose, request);
      const options = await createOptions(context, purpose, session);
      const { challenge } = options;
      challengeCookie.set(context, reply, { challenge, purpose, session: session?.id ?? null });
      return reply.send(options);
    },
  );
};

/**
 * Reads the challenge of a response from the cookie. The domain ensures that it is used once.
 * @returns the response with its challenge; `undefined` when the challenge is missing, expired, or of another
 *   purpose or session
 */
export function takePasskeyResponse(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  purpose: PasskeyPurpose,
  credential: string,
): PasskeyAssertion | undefined {
  const stored = challengeCookie.take(context, request, reply);
  const session = purpose === 'sign-in' ? null : (request.session?.id ?? null);
  if (stored?.purpose !== purpose || stored.session !== session) return undefined;
  return {
    credential,
    challenge: stored.challenge,
    challengeExpiresAt: stored.expiresAt,
    relyingParty: relyingPartyOf(context.addresses.clientBaseUrl),
  };
}

/** @returns the registered passkey; `undefined` when the response is invalid */
export async function parseNewPasskey(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  credential: string,
  name: string,
): Promise<NewPasskey | undefined> {
  const assertion = takePasskeyResponse(context, request, reply, 'add', credential);
  if (assertion === undefined) return undefined;
  const { relyingParty, challenge, challengeExpiresAt } = assertion;
  const passkey = await verifyPasskeyRegistration(relyingParty, challenge, credential);
  return passkey && { ...passkey, name, challenge, challengeExpiresAt };
}

/**
 * Returns the session that makes the request; `null` for a sign-in. A pending session may also add a passkey, because
 * its account may have to set up a second factor first.
 * @throws SignInRequired if the session is missing or has the wrong state
 */
function sessionFor(purpose: PasskeyPurpose, { session }: FastifyRequest): Session | null {
  if (purpose === 'sign-in') return null;
  const state = { 'second-factor': ['pending'], confirm: ['complete'], add: ['pending', 'complete'] }[
    purpose
  ];
  if (!session || !state.includes(session.state))
    throw new SignInRequired('This is for people who signed in.');
  return session;
}

async function createOptions({ db, addresses }: Context, purpose: PasskeyPurpose, session: Session | null) {
  const { generateAuthenticationOptions, generateRegistrationOptions } =
    await import('@simplewebauthn/server');
  const { id: rpID } = relyingPartyOf(addresses.clientBaseUrl);
  const passkeys = session === null ? [] : await passkeyDescriptors(db.read, session.userId);
  if (purpose === 'add' && session !== null) {
    return generateRegistrationOptions({
      rpID,
      rpName: 'Assay',
      userID: new Uint8Array(Buffer.from(session.uid)),
      userName: session.email,
      userDisplayName: session.name ?? session.email,
      timeout: CHALLENGE_LIFETIME,
      attestationType: 'none',
      excludeCredentials: passkeys,
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }
  return generateAuthenticationOptions({
    rpID,
    timeout: CHALLENGE_LIFETIME,
    userVerification: 'required',
    allowCredentials: passkeys,
  });
}
