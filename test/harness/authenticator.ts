import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { TestServer } from './server.ts';
import type { FormClient } from './form-client.ts';

/** Invalid values that an authenticator or a browser sends. */
export interface InvalidAssertion {
  origin?: string;
  /** Whether the page was in a frame of another origin. */
  crossOrigin?: boolean;
  /** The origin of that frame's top page. */
  topOrigin?: string;
  rpId?: string;
  challenge?: string;
  userVerified?: boolean;
  counter?: number;
  /** The user of the passkey. */
  userHandle?: string;
  type?: string;
}

interface Options {
  challenge: string;
  rp?: { id: string };
  rpId?: string;
  user?: { id: string };
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const KEY_INCLUDED = 0x40;

/** An authenticator with one passkey, and its browser: ES256, attestation `none` (WebAuthn, section 6). */
export class SoftwareAuthenticator {
  readonly id = randomBytes(32).toString('base64url');
  counter = 0;
  readonly #origin: string;
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  #userHandle = '';

  constructor({ origin }: TestServer) {
    this.#origin = origin.replace('127.0.0.1', 'localhost');
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#privateKey = keys.privateKey;
    this.#publicKey = keys.publicKey;
  }

  /** Creates a passkey. @returns the JSON of `navigator.credentials.create` */
  make(options: Options, deviation: InvalidAssertion = {}): string {
    this.#userHandle = options.user?.id ?? '';
    const rpId = deviation.rpId ?? options.rp?.id ?? '';
    const { x = '', y = '' } = this.#publicKey.export({ format: 'jwk' });
    const id = Buffer.from(this.id, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const authData = Buffer.concat([
      this.#header(rpId, deviation, KEY_INCLUDED),
      Buffer.alloc(16),
      length,
      id,
      // COSE (RFC 9053, section 7.1): {1: 2, 3: -7, -1: 1, -2: x, -3: y}
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
    const authDataLength = Buffer.alloc(2);
    authDataLength.writeUInt16BE(authData.length);
    const attestationObject = Buffer.concat([
      // {"fmt": "none", "attStmt": {}, "authData": …}
      Buffer.from('a363', 'hex'),
      Buffer.from('fmt'),
      Buffer.from('64', 'hex'),
      Buffer.from('none'),
      Buffer.from('67', 'hex'),
      Buffer.from('attStmt'),
      Buffer.from('a068', 'hex'),
      Buffer.from('authData'),
      Buffer.from('59', 'hex'),
      authDataLength,
      authData,
    ]);
    return this.#credential({
      clientDataJSON: this.#clientData('webauthn.create', options, deviation).toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
      transports: ['internal'],
    });
  }

  /** Signs in with the passkey. @returns the JSON of `navigator.credentials.get` */
  use(options: Options, deviation: InvalidAssertion = {}): string {
    this.counter += 1;
    const authData = this.#header(deviation.rpId ?? options.rpId ?? '', deviation, 0);
    const clientData = this.#clientData('webauthn.get', options, deviation);
    const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()]);
    return this.#credential({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: sign('sha256', signed, this.#privateKey).toString('base64url'),
      userHandle: deviation.userHandle ?? this.#userHandle,
    });
  }

  #header(
    rpId: string,
    { userVerified = true, counter = this.counter }: InvalidAssertion,
    flags: number,
  ): Buffer {
    const rest = Buffer.alloc(5);
    rest.writeUInt8(USER_PRESENT | (userVerified ? USER_VERIFIED : 0) | flags);
    rest.writeUInt32BE(counter, 1);
    return Buffer.concat([createHash('sha256').update(rpId).digest(), rest]);
  }

  #clientData(type: string, options: Options, deviation: InvalidAssertion): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: deviation.type ?? type,
        challenge: deviation.challenge ?? options.challenge,
        origin: deviation.origin ?? this.#origin,
        crossOrigin: deviation.crossOrigin ?? false,
        topOrigin: deviation.topOrigin,
      }),
    );
  }

  #credential(response: Record<string, unknown>): string {
    return JSON.stringify({
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response,
    });
  }
}

export async function passkeyOptions(
  visitor: FormClient,
  purpose: 'sign-in' | 'second-factor' | 'confirm' | 'add',
): Promise<Options & Record<string, unknown>> {
  const response = await visitor.get(`/passkeys/options?for=${purpose}`);
  if (response.status !== 200) throw new Error(`No options for ${purpose}: ${response.status}.`);
  return JSON.parse(response.text) as Options & Record<string, unknown>;
}
