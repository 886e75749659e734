import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { seal, unseal } from '../auth/sealing.ts';
import { MAX_RESPONSE_LENGTH, relyingPartyOf, verifyPasskeyRegistration } from '../auth/webauthn.ts';
import type { Context } from '../runtime/context.ts';
import type { PasskeyAssertion } from '../domain/sign-in/verify-passkey.ts';
import { type NewPasskey, passkeyDescriptors } from '../domain/sign-in/passkeys.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { prefixedCookieName, cookieOptions, SignInRequired } from '../http/browser-sessions.ts';

/** How long a browser may take to answer: people look for their key first. */
const CHALLENGE_LIFETIME = 300_000;
const SEALED_FOR = 'passkey challenge';

/**
 * What a browser is asked for: a passkey to sign in with alone, to prove a second factor, to prove again who someone is,
 * or a new one.
 */
export type PasskeyPurpose = 'sign-in' | 'second-factor' | 'confirm' | 'add';

/** What a browser keeps, sealed, while it talks to the authenticator. */
interface Challenge {
  challenge: string;
  purpose: PasskeyPurpose;
  /** The session that asked; `null` where nobody has signed in. */
  session: string | null;
  endsAt: number;
}

/** The field by which `assets/passkeys.js` sends what the authenticator said. */
export const CredentialSchema = Type.String({ maxLength: MAX_RESPONSE_LENGTH });

const QuerySchema = Type.Object({
  for: Type.Union([
    Type.Literal('sign-in'),
    Type.Literal('second-factor'),
    Type.Literal('confirm'),
    Type.Literal('add'),
  ]),
});

/** Gives scripts what they ask the browser with, and the browser a cookie that the answer is compared with. */
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
      const challenge: Challenge = {
        challenge: options.challenge,
        purpose,
        session: session?.id ?? null,
        endsAt: context.clock() + CHALLENGE_LIFETIME,
      };
      reply.setCookie(cookieName(context), seal(context.keys.secret, SEALED_FOR, JSON.stringify(challenge)), {
        ...cookieOptions(context),
        maxAge: CHALLENGE_LIFETIME / 1000,
      });
      return reply.send(options);
    },
  );
};

/**
 * Takes the challenge of an answer out of the browser's cookie. That it is answered once is held by the domain.
 * @returns the answer with its challenge; `undefined` when this browser was not asked, for something else, by another
 *   session, or too long ago
 */
export function parsePasskeyAssertion(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  purpose: PasskeyPurpose,
  credential: string,
): PasskeyAssertion | undefined {
  const sealed = request.cookies[cookieName(context)];
  reply.clearCookie(cookieName(context), cookieOptions(context));
  const text = sealed === undefined ? undefined : unseal(context.keys.secret, SEALED_FOR, sealed);
  if (text === undefined) return undefined;
  const { challenge, endsAt, ...asked } = JSON.parse(text) as Challenge;
  const session = purpose === 'sign-in' ? null : (request.session?.id ?? null);
  if (asked.purpose !== purpose || asked.session !== session || endsAt <= context.clock()) return undefined;
  return { credential, challenge, endsAt, relyingParty: relyingPartyOf(context.addresses.clientBaseUrl) };
}

/** @returns the passkey that a browser was asked to make; `undefined` for whatever is wrong with the answer */
export async function parseNewPasskey(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  credential: string,
  name: string,
): Promise<NewPasskey | undefined> {
  const answer = parsePasskeyAssertion(context, request, reply, 'add', credential);
  if (answer === undefined) return undefined;
  const { relyingParty, challenge, endsAt } = answer;
  const made = await verifyPasskeyRegistration(relyingParty, challenge, credential);
  return made && { ...made, name, challenge, endsAt };
}

/** Who may ask for it. A new passkey is also for people who have to add one before their sign-in is complete. */
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

function cookieName(context: Context): string {
  return prefixedCookieName(context, 'passkey');
}
