import { seal, unseal } from '../auth/sealing.ts';
import type { Addresses } from '../config/config.ts';

const SECRET_PURPOSE = 'identity provider';

/**
 * @param organization its uid
 * @returns the redirect address to register at the provider of an organization. Each has its own, so that the answer of
 *   one provider cannot be taken for that of another (RFC 9700, section 4.4.2)
 */
export function callbackUrl({ clientBaseUrl }: Addresses, organization: string): string {
  return `${clientBaseUrl}/sign-in/organization/callback/${organization}`;
}

/** @returns the secret by which a provider knows us, as the database keeps it */
export function sealClientSecret(deploymentSecret: Uint8Array, clientSecret: string): string {
  return seal(deploymentSecret, SECRET_PURPOSE, clientSecret);
}

/** @returns that secret; `undefined` when the deployment has another secret than when it was sealed */
export function unsealClientSecret(deploymentSecret: Uint8Array, sealed: string): string | undefined {
  return unseal(deploymentSecret, SECRET_PURPOSE, sealed);
}
