import { domainToASCII } from 'node:url';
import { isHostName } from '../../auth/email-addresses.ts';
import { isSharedIssuer } from '../../auth/shared-issuers.ts';
import { isVisibleText } from '../../auth/visible-text.ts';
import type { FieldError } from '../shared/errors.ts';

const MAX_DOMAIN = 253;
const MAX_TEXT = 255;
const MAX_DOMAINS = 100;
const MAX_GROUPS = 1_000;

/** The identity provider of an organization, and what its claims mean. */
export interface ProviderSettings {
  /** The issuer, as in the provider's metadata. */
  issuer: string;
  clientId: string;
  /** Encrypted; `null` for a public client. */
  encryptedSecret: string | null;
  /** The email domains of its users. */
  domains: readonly string[];
  groupsClaim: string;
  /** The group whose members are the only admins; `null` if the organization appoints admins itself. */
  adminGroup: string | null;
  groups: readonly { group: string; assessment: string }[];
  ssoOnly: boolean;
  /**
   * Whether an address in one of the domains counts as verified if the provider sends no `email_verified`. Anyone who
   * can set an address in the directory of the provider can then sign in as the user with that address.
   */
  trustEmail: boolean;
}

/** @returns the domain in the form in which domains are compared; invalid input unchanged */
export function normalizeDomain(domain: string): string {
  return domainToASCII(domain.trim()) || domain;
}

/** Rejects `trustEmail` for an issuer that several tenants share: any tenant can set any address. */
export function validateTrustedIssuer({
  issuer,
  trustEmail,
}: Pick<ProviderSettings, 'issuer' | 'trustEmail'>): FieldError[] {
  if (!trustEmail || !isSharedIssuer(issuer)) return [];
  return [{ property: 'issuer', code: 'shared-issuer', params: { other: 'trustEmail' }, value: issuer }];
}

/** Validates without database access. */
export function validateProviderSettings(
  settings: ProviderSettings,
  domains: readonly string[],
): FieldError[] {
  const { clientId, groupsClaim, adminGroup, groups } = settings;
  const texts = { clientId, groupsClaim, ...(adminGroup === null ? {} : { adminGroup }) };
  const errors: FieldError[] = [
    ...Object.entries(texts).flatMap(([property, value]) => validateText(property, value)),
    ...domains.flatMap((value, index): FieldError[] =>
      isDomain(value) ? [] : [{ property: `domains.${index}`, code: 'not-a-domain', value }],
    ),
    ...groups.flatMap(({ group }, index) => validateText(`groups.${index}.group`, group)),
    ...validateTrustedIssuer(settings),
  ];
  if (domains.length === 0 || domains.length > MAX_DOMAINS)
    errors.push({ property: 'domains', code: 'not-one-to', params: { max: MAX_DOMAINS } });
  if (groups.length > MAX_GROUPS)
    errors.push({ property: 'groups', code: 'too-many', params: { max: MAX_GROUPS } });
  return errors;
}

/** Whether a text has at least two labels, and the last one is not a number. */
function isDomain(text: string): boolean {
  return text.length <= MAX_DOMAIN && isHostName(text) && /\.(?=[a-z0-9-]*[a-z])[a-z0-9-]{2,63}$/.test(text);
}

function validateText(property: string, value: string): FieldError[] {
  if (isVisibleText(value, MAX_TEXT)) return [];
  return [{ property, code: 'not-visible-text', params: { max: MAX_TEXT }, value }];
}
