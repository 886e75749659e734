import { defineEncryptedCookie } from '../http/encrypted-cookie.ts';
import type { AuthorizationState } from './provider.ts';

/** Characters of the return path, so that every browser stores the cookie. */
export const MAX_RETURN_TO = 2_048;

/** A sign-in for which the browser was sent to an identity provider. */
export interface PendingSignIn extends AuthorizationState {
  /** The uid of the organization whose provider it is. */
  organization: string;
  issuer: string;
  clientId: string;
  returnTo: string;
}

export const pendingSignInCookie = defineEncryptedCookie<PendingSignIn>(
  'single-sign-on',
  'single sign-on attempt',
  600_000,
);
