import type {
  AuthenticationResponseJSON,
  AuthenticatorTransportFuture,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { type Static, type TSchema, Type } from 'typebox';

/** Who passkeys are for (WebAuthn, section 4): authenticators tie each to it. */
export interface RelyingParty {
  /** A host name. */
  id: string;
  /** Where pages with passkeys are, as the browser sees it. */
  origin: string;
}

/** What an authenticator proved when it made a passkey. */
export interface CreatedPasskey {
  /** The credential id, base64url. */
  id: string;
  /** COSE, base64url. */
  publicKey: string;
  counter: number;
  transports: AuthenticatorTransportFuture[];
}

const TRANSPORTS: readonly AuthenticatorTransportFuture[] = [
  'ble',
  'cable',
  'hybrid',
  'internal',
  'nfc',
  'smart-card',
  'usb',
];
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** The longest answer of a browser that is looked at; an ordinary one has a tenth of it. */
export const MAX_RESPONSE_LENGTH = 16_384;
/** WebAuthn allows ids of 1023 bytes. */
export const MAX_CREDENTIAL_ID_LENGTH = 1_364;

const TextSchema = Type.String({ maxLength: MAX_RESPONSE_LENGTH });
const IdSchema = Type.String({ maxLength: MAX_CREDENTIAL_ID_LENGTH });

const RegistrationSchema = Type.Object({
  id: IdSchema,
  rawId: IdSchema,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Object({}),
  response: Type.Object({
    clientDataJSON: TextSchema,
    attestationObject: TextSchema,
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 })),
  }),
});

const AssertionSchema = Type.Object({
  id: IdSchema,
  rawId: IdSchema,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Object({}),
  response: Type.Object({
    clientDataJSON: TextSchema,
    authenticatorData: TextSchema,
    signature: TextSchema,
    userHandle: Type.Optional(Type.Union([TextSchema, Type.Null()])),
  }),
});

/**
 * @param clientBaseUrl the deployment's address. Browsers take no IP address for a relying party, so on a loopback
 *   address it is `localhost`, at the same port
 */
export function relyingPartyOf(clientBaseUrl: string): RelyingParty {
  const url = new URL(clientBaseUrl);
  if (LOOPBACK.test(url.hostname)) url.hostname = 'localhost';
  return { id: url.hostname, origin: url.origin };
}

/**
 * Checks the answer of a browser that was asked to make a passkey (WebAuthn, section 7.1): challenge, origin, relying
 * party, user verification.
 * @param text the credential as JSON
 * @returns the passkey; `undefined` when anything is wrong with it
 */
export async function verifyPasskeyRegistration(
  { id, origin }: RelyingParty,
  challenge: string,
  text: string,
): Promise<CreatedPasskey | undefined> {
  const answer = await parseJsonAs(RegistrationSchema, text);
  if (answer === undefined) return undefined;
  const transports = TRANSPORTS.filter((transport) => answer.response.transports?.includes(transport));
  const response: RegistrationResponseJSON = { ...answer, response: { ...answer.response, transports } };
  try {
    if (!(await hasNoCertificate(answer.response.attestationObject))) return undefined;
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
    });
    if (registrationInfo === undefined) return undefined;
    const { credential } = registrationInfo;
    return {
      id: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports,
    };
  } catch {
    return undefined;
  }
}

/**
 * Whether an attestation names no certificate. We ask for none, and one that came anyway would have the library load
 * lists of revoked certificates from addresses that the sender chose.
 */
async function hasNoCertificate(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  const format = attestation.get('fmt');
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
}

/** @returns the answer of a browser that was asked to use a passkey; `undefined` when it is of another form */
export async function parseAssertionResponse(text: string): Promise<AuthenticationResponseJSON | undefined> {
  const answer = await parseJsonAs(AssertionSchema, text);
  if (answer === undefined) return undefined;
  const { userHandle, ...response } = answer.response;
  return { ...answer, response: typeof userHandle === 'string' ? { ...response, userHandle } : response };
}

/**
 * Checks such an answer (WebAuthn, section 7.2): signature, challenge, origin, relying party, user verification. The
 * counter is for the caller to compare, in the same step in which it is stored.
 * @param publicKey COSE, base64url
 * @returns the signature counter; `undefined` when anything is wrong
 */
export async function verifyPasskeyAssertion(
  { id, origin }: RelyingParty,
  challenge: string,
  response: AuthenticationResponseJSON,
  publicKey: string,
): Promise<number | undefined> {
  try {
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      credential: {
        id: response.id,
        publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
        counter: 0,
      },
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}

/** @returns the value that a JSON text stands for; `undefined` when it is not of the schema */
async function parseJsonAs<T extends TSchema>(schema: T, text: string): Promise<Static<T> | undefined> {
  // Loaded at the first use, as are the parts that know WebAuthn: together they are a third of what a start has to read.
  const { Value } = await import('typebox/value');
  try {
    const value = JSON.parse(text) as unknown;
    return Value.Check(schema, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
