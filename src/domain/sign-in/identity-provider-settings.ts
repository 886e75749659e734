import { domainToASCII } from 'node:url';
import { isHostName } from '../../auth/email-addresses.ts';
import { isPlainText } from '../../auth/plain-text.ts';
import type { FieldError } from '../shared/errors.ts';

const MAX_DOMAIN = 253;
const MAX_TEXT = 255;
const MAX_DOMAINS = 100;
const MAX_GROUPS = 1_000;

/** What an organization names: its provider, and what the claims of that provider mean here. */
export interface ProviderSettings {
  /** As the provider's metadata writes it. */
  issuer: string;
  clientId: string;
  /** Sealed; `null` for a public client. */
  sealedSecret: string | null;
  /** Whose addresses sign in there. */
  domains: readonly string[];
  /** The claim that lists groups. */
  groupsClaim: string;
  /** Who is in it is an admin, and nobody else; `null` leaves that to the organization. */
  adminGroup: string | null;
  /** The assessments that a group opens. */
  groups: readonly { group: string; assessment: string }[];
  /** Whether passwords are refused. */
  ssoOnly: boolean;
}

/** @returns a domain as it is compared; one that is none stays as it is, to be told so */
export function normalizeDomain(domain: string): string {
  return domainToASCII(domain.trim()) || domain;
}

/** @returns what is wrong with the settings of a provider, by their form alone */
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
  ];
  if (domains.length === 0 || domains.length > MAX_DOMAINS)
    errors.push({ property: 'domains', code: 'not-one-to', params: { max: MAX_DOMAINS } });
  if (groups.length > MAX_GROUPS)
    errors.push({ property: 'groups', code: 'too-many', params: { max: MAX_GROUPS } });
  return errors;
}

/** At least two labels, the last of which is no number. */
function isDomain(text: string): boolean {
  return text.length <= MAX_DOMAIN && isHostName(text) && /\.(?=[a-z0-9-]*[a-z])[a-z0-9-]{2,63}$/.test(text);
}

function validateText(property: string, value: string): FieldError[] {
  if (isPlainText(value, MAX_TEXT)) return [];
  return [{ property, code: 'not-visible-text', params: { max: MAX_TEXT }, value }];
}
