import type {
  AuthenticationResponseJSON,
  AuthenticatorTransportFuture,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { type Static, type TSchema, Type } from 'typebox';

/** The WebAuthn relying party (section 4), to which authenticators bind passkeys. */
export interface RelyingParty {
  /** A host name. */
  id: string;
  origin: string;
}

/** A passkey, as registered by an authenticator. */
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

/** Characters of a browser's response: ten times an ordinary one. */
export const MAX_RESPONSE_LENGTH = 16_384;
/** WebAuthn allows ids of 1023 bytes. */
export const MAX_CREDENTIAL_ID_LENGTH = 1_364;

const TextSchema = Type.String({ maxLength: MAX_RESPONSE_LENGTH });
const IdSchema = Type.String({ maxLength: MAX_CREDENTIAL_ID_LENGTH });

const credentialProperties = {
  id: IdSchema,
  rawId: IdSchema,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Object({}),
};

const RegistrationSchema = Type.Object({
  ...credentialProperties,
  response: Type.Object({
    clientDataJSON: TextSchema,
    attestationObject: TextSchema,
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 })),
  }),
});

const AssertionSchema = Type.Object({
  ...credentialProperties,
  response: Type.Object({
    clientDataJSON: TextSchema,
    authenticatorData: TextSchema,
    signature: TextSchema,
    userHandle: Type.Optional(Type.Union([TextSchema, Type.Null()])),
  }),
});

/**
 * Returns the relying party of the deployment. Browsers accept no IP address, so for a loopback address it is
 * `localhost`, at the same port.
 */
export function relyingPartyOf(clientBaseUrl: string): RelyingParty {
  const url = new URL(clientBaseUrl);
  if (LOOPBACK.test(url.hostname)) url.hostname = 'localhost';
  return { id: url.hostname, origin: url.origin };
}

/**
 * Verifies a registration response (WebAuthn, section 7.1): challenge, origin, relying party and user verification.
 * Responses from a frame of another origin are invalid.
 * @param text the credential as JSON
 * @returns the passkey; `undefined` if the response is invalid
 */
export async function verifyPasskeyRegistration(
  { id, origin }: RelyingParty,
  challenge: string,
  text: string,
): Promise<CreatedPasskey | undefined> {
  const parsed = await parseJsonAs(RegistrationSchema, text);
  if (parsed === undefined) return undefined;
  const transports = TRANSPORTS.filter((transport) => parsed.response.transports?.includes(transport));
  const response: RegistrationResponseJSON = { ...parsed, response: { ...parsed.response, transports } };
  try {
    if (await isEmbedded(parsed.response.clientDataJSON)) return undefined;
    if (!(await hasNoCertificate(parsed.response.attestationObject))) return undefined;
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
 * Whether an attestation contains no certificate. We request none, and the library would fetch the revocation list of
 * one from a URL that the sender chose.
 */
async function hasNoCertificate(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  const format = attestation.get('fmt');
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
}

/** Whether the page was in a frame of another origin (WebAuthn 3, section 5.8.1), which the library does not check. */
async function isEmbedded(clientDataJSON: string): Promise<boolean> {
  const { decodeClientDataJSON } = await import('@simplewebauthn/server/helpers');
  const { crossOrigin = false, ...rest } = decodeClientDataJSON(clientDataJSON);
  return crossOrigin || 'topOrigin' in rest;
}

/** Parses an authentication response. @returns `undefined` if it is malformed */
export async function parseAssertionResponse(text: string): Promise<AuthenticationResponseJSON | undefined> {
  const parsed = await parseJsonAs(AssertionSchema, text);
  if (parsed === undefined) return undefined;
  const { userHandle, ...response } = parsed.response;
  return { ...parsed, response: typeof userHandle === 'string' ? { ...response, userHandle } : response };
}

/**
 * Verifies an authentication response (WebAuthn, section 7.2): signature, challenge, origin, relying party and user
 * verification. Responses from a frame of another origin are invalid. The caller must compare the counter and store it
 * atomically.
 * @param publicKey COSE, base64url
 * @returns the signature counter; `undefined` if the response is invalid
 */
export async function verifyPasskeyAssertion(
  { id, origin }: RelyingParty,
  challenge: string,
  response: AuthenticationResponseJSON,
  publicKey: string,
): Promise<number | undefined> {
  try {
    if (await isEmbedded(response.response.clientDataJSON)) return undefined;
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

/** Parses JSON. @returns `undefined` if it does not match the schema */
async function parseJsonAs<T extends TSchema>(schema: T, text: string): Promise<Static<T> | undefined> {
  // Loaded on first use, like the WebAuthn library: together they are a third of the code that a start has to read.
  const { Value } = await import('typebox/value');
  try {
    const value = JSON.parse(text) as unknown;
    return Value.Check(schema, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
