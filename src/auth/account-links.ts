import { createHmac, timingSafeEqual } from 'node:crypto';

/** The user of an invitation, and its time. */
export interface InvitationClaims {
  uid: string;
  /** Milliseconds since 1970. */
  invitedAt: number;
}

/**
 * Returns the URL at which a user accepts an invitation. Its token is the user's uid with an HMAC-SHA256 of the uid and
 * the time of the invitation: nothing is stored, and renewing the invitation invalidates the previous link.
 * @param clientBaseUrl without a trailing slash
 * @param secret the secret of the deployment
 */
export function invitationUrl(clientBaseUrl: string, secret: Uint8Array, invited: InvitationClaims): string {
  return `${clientBaseUrl}/invitation?token=${invited.uid}.${sign(secret, invited).toString('base64url')}`;
}

/** @returns the uid in a token, unverified; `undefined` if the token is malformed */
export function readInvitedUser(token: string): string | undefined {
  return /^([-_0-9A-Za-z]{1,64})\.[-_0-9A-Za-z]{43}$/.exec(token)?.[1];
}

/** Compares a token with that of the invitation in constant time. */
export function verifyInvitationToken(secret: Uint8Array, invited: InvitationClaims, token: string): boolean {
  const expected = Buffer.from(`${invited.uid}.${sign(secret, invited).toString('base64url')}`);
  const actual = Buffer.from(token);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function sign(secret: Uint8Array, { uid, invitedAt }: InvitationClaims): Buffer {
  // The prefix separates this use of the secret from others.
  return createHmac('sha256', secret).update(`invitation:${uid}:${invitedAt}`).digest();
}

/**
 * Returns the URL at which a user sets a new password.
 * @param clientBaseUrl without a trailing slash; from the configuration, as the host of a request may be forged
 */
export function passwordResetUrl(clientBaseUrl: string, resetToken: string): string {
  return `${clientBaseUrl}/reset-password?token=${resetToken}`;
}
