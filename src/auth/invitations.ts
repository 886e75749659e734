import { createHmac } from 'node:crypto';

/**
 * The link by which an invited user accepts. Its token is the user's uid with an HMAC-SHA256 of it, so it is good as
 * long as the invitation is open, and nothing needs to be stored.
 * @param clientBaseUrl without a slash at its end
 * @param secret the deployment's
 * @returns an absolute URL
 */
export function invitationUrl(clientBaseUrl: string, secret: Uint8Array, userUid: string): string {
  return `${clientBaseUrl}/invitation?token=${invitationToken(secret, userUid)}`;
}

function invitationToken(secret: Uint8Array, userUid: string): string {
  // The prefix keeps this use of the secret apart from every other one.
  const signature = createHmac('sha256', secret).update(`invitation:${userUid}`).digest('base64url');
  return `${userUid}.${signature}`;
}
