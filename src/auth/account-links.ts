import { createHmac, timingSafeEqual } from 'node:crypto';

/** Who is invited, and when that was. */
export interface InvitationClaims {
  uid: string;
  /** Milliseconds since 1970. */
  invitedAt: number;
}

/**
 * The link by which an invited user accepts. Its token is the user's uid with an HMAC-SHA256 of it and of the time of
 * the invitation, so nothing needs to be stored, and a renewed invitation ends the link before.
 * @param clientBaseUrl without a slash at its end
 * @param secret the deployment's
 * @returns an absolute URL
 */
export function invitationUrl(clientBaseUrl: string, secret: Uint8Array, invited: InvitationClaims): string {
  return `${clientBaseUrl}/invitation?token=${invited.uid}.${sign(secret, invited).toString('base64url')}`;
}

/** @returns whom a token is for by what it says, which may be anybody; `undefined` when it can be no token */
export function readInvitationUid(token: string): string | undefined {
  return /^([-_0-9A-Za-z]{1,64})\.[-_0-9A-Za-z]{43}$/.exec(token)?.[1];
}

/** @returns whether the token is that of this invitation, in a time that does not tell how much of it is right */
export function verifyInvitationToken(secret: Uint8Array, invited: InvitationClaims, token: string): boolean {
  const expected = Buffer.from(`${invited.uid}.${sign(secret, invited).toString('base64url')}`);
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function sign(secret: Uint8Array, { uid, invitedAt }: InvitationClaims): Buffer {
  // The prefix keeps this use of the secret apart from every other one.
  return createHmac('sha256', secret).update(`invitation:${uid}:${invitedAt}`).digest();
}
