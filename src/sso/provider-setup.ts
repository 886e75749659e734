import { encryptSecret, decryptSecret } from '../auth/encrypt-secret.ts';
import type { Addresses } from '../config/config.ts';

const SECRET_PURPOSE = 'identity provider';

/**
 * Returns the redirect URI to register at an organization's provider. Each has its own, so that the response of one
 * provider cannot be used as that of another (RFC 9700, section 4.4.2).
 * @param organization uid
 */
export function callbackUrl({ clientBaseUrl }: Addresses, organization: string): string {
  return `${clientBaseUrl}/sign-in/organization/callback/${organization}`;
}

export function encryptClientSecret(deploymentSecret: Uint8Array, clientSecret: string): string {
  return encryptSecret(deploymentSecret, SECRET_PURPOSE, clientSecret);
}

/** @returns `undefined` if the deployment's secret has changed since */
export function decryptClientSecret(deploymentSecret: Uint8Array, encrypted: string): string | undefined {
  return decryptSecret(deploymentSecret, SECRET_PURPOSE, encrypted);
}
