import { readFileSync } from 'node:fs';
import type { JSONWebKeySet, JWK } from 'jose';
import type { ExternalIssuerSettings } from '../auth/external-issuer.ts';
import { isHttpsOrLoopback } from '../auth/fetch-with-limit.ts';
import { isSharedIssuer } from '../auth/shared-issuers.ts';
import { isScope, type Scope } from '../auth/scopes.ts';
import { ConfigError, parseBoolean } from './parsers.ts';

const SETTING_SUFFIXES = ['JWKS', 'AUDIENCE', 'CLAIMS', 'SCOPES', 'TRUST_EMAIL'] as const;
const DEFAULT_CLAIMS = { user: 'sub', scope: 'scope', organization: undefined };

/**
 * Reads the settings of an external issuer, whose access tokens are accepted beside our own.
 * @param setting reads a setting by its name; returns `undefined` if it is not set
 * @throws ConfigError for the first invalid setting
 */
export function parseExternalIssuer(
  setting: (name: string) => string | undefined,
): ExternalIssuerSettings | undefined {
  const read = (name: (typeof SETTING_SUFFIXES)[number]) => setting(`ASSAY_EXTERNAL_${name}`);
  const issuer = setting('ASSAY_EXTERNAL_ISSUER');
  if (issuer === undefined) {
    const unused = SETTING_SUFFIXES.find((name) => read(name) !== undefined);
    if (unused !== undefined) {
      throw new ConfigError(
        `ASSAY_EXTERNAL_${unused} is set without ASSAY_EXTERNAL_ISSUER. Set both, or neither.`,
      );
    }
    return undefined;
  }
  const url = URL.parse(issuer);
  if (url === null || !isHttpsOrLoopback(url))
    throw new ConfigError(`ASSAY_EXTERNAL_ISSUER must be an https URL, not "${issuer}".`);
  if (issuer === (setting('ASSAY_ISSUER') ?? setting('ASSAY_CLIENT_BASE_URL')))
    throw new ConfigError('ASSAY_EXTERNAL_ISSUER must not be the issuer of this server.');
  const claims = parseClaims(read('CLAIMS'));
  return {
    // Unchanged, as issuers are compared character by character (RFC 9068, section 4).
    issuer,
    keys: parseKeys(issuer, read('JWKS')),
    audience: read('AUDIENCE'),
    claims,
    scopes: parseScopes(read('SCOPES')),
    trustEmail: parseTrustEmail(issuer, claims.user, read('TRUST_EMAIL')),
  };
}

function parseKeys(issuer: string, value: string | undefined): URL | JSONWebKeySet {
  if (value === undefined) {
    throw new ConfigError(
      `ASSAY_EXTERNAL_JWKS must name the keys of ${issuer}: an https URL, the jwks_uri of its metadata, or a file.`,
    );
  }
  if (/^https?:\/\//i.test(value)) {
    const url = URL.parse(value);
    if (url === null || !isHttpsOrLoopback(url))
      throw new ConfigError(`ASSAY_EXTERNAL_JWKS must be an https URL or a file, not "${value}".`);
    return url;
  }
  let keys: unknown;
  try {
    keys = (JSON.parse(readFileSync(value, 'utf8')) as { keys?: unknown } | null)?.keys;
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'not JSON';
    throw new ConfigError(`ASSAY_EXTERNAL_JWKS: the file ${value} could not be read (${reason}).`, {
      cause: error,
    });
  }
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isKey))
    throw new ConfigError(`ASSAY_EXTERNAL_JWKS: the file ${value} is not a JSON Web Key Set (RFC 7517).`);
  return { keys };
}

function isKey(key: unknown): key is JWK {
  return typeof key === 'object' && key !== null && 'kty' in key && typeof key.kty === 'string';
}

function parseClaims(value: string | undefined): ExternalIssuerSettings['claims'] {
  const claims = parsePairs('ASSAY_EXTERNAL_CLAIMS', value);
  const unknown = claims.find(([name]) => !Object.hasOwn(DEFAULT_CLAIMS, name));
  if (unknown !== undefined) {
    throw new ConfigError(
      `ASSAY_EXTERNAL_CLAIMS must look like user=sub scope=scope organization=org; "${unknown[0]}" is unknown.`,
    );
  }
  return { ...DEFAULT_CLAIMS, ...Object.fromEntries(claims) };
}

function parseScopes(value: string | undefined): ExternalIssuerSettings['scopes'] {
  if (value === undefined) return undefined;
  const scopes = new Map<string, Scope[]>();
  for (const [issuerScope, scope] of parsePairs('ASSAY_EXTERNAL_SCOPES', value)) {
    if (!isScope(scope))
      throw new ConfigError(
        `ASSAY_EXTERNAL_SCOPES must map to scopes of this server; "${scope}" is not one.`,
      );
    scopes.set(issuerScope, [...(scopes.get(issuerScope) ?? []), scope]);
  }
  return scopes;
}

/** @param userClaim the claim that identifies the account */
function parseTrustEmail(issuer: string, userClaim: string, value: string | undefined): boolean {
  const trustEmail = parseBoolean('ASSAY_EXTERNAL_TRUST_EMAIL', value, false);
  if (trustEmail && userClaim !== 'email')
    throw new ConfigError('ASSAY_EXTERNAL_TRUST_EMAIL needs user=email in ASSAY_EXTERNAL_CLAIMS.');
  if (trustEmail && isSharedIssuer(issuer)) {
    throw new ConfigError(
      `ASSAY_EXTERNAL_TRUST_EMAIL cannot be used with ${issuer}, which several organizations share: an address that it ` +
        "has not verified may be anybody's. Set ASSAY_EXTERNAL_ISSUER to the issuer of your own tenant, or unset " +
        'ASSAY_EXTERNAL_TRUST_EMAIL.',
    );
  }
  return trustEmail;
}

/** Splits each pair at its last equals sign: a name may contain one, a value cannot. */
function parsePairs(setting: string, value: string | undefined): [string, string][] {
  return (value ?? '')
    .split(/[\s,]+/)
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.lastIndexOf('=');
      if (equals < 1 || equals === pair.length - 1)
        throw new ConfigError(`${setting} must contain pairs like name=value, not "${pair}".`);
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    });
}
