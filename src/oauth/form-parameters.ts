import type { FastifyInstance } from 'fastify';
import { SMALL_BODY_LIMIT } from '../http/json-bodies.ts';
import { OAuthError } from './oauth-error.ts';

/** Parameters other than redirect URIs (RFC 6749, appendix A). */
const PRINTABLE = /^[\x20-\x7e]*$/;
const CONTROL = /\p{Cc}/u;

/** Accepts only form-encoded bodies (RFC 6749, section 3.2). */
export function acceptForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    // The longest parameters are a JWT and a redirect URI.
    { parseAs: 'string', bodyLimit: SMALL_BODY_LIMIT },
    (_request, body, done) => done(null, body),
  );
}

/**
 * Parses the named parameters of a form. Ignores other parameters and empty ones.
 * @throws OAuthError `invalid_request` for a repeated parameter, for invalid characters in a value, and for a body that
 *   is not form-encoded
 */
export function parseFormParameters<const Name extends string>(
  body: unknown,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const values: Partial<Record<Name, string>> = {};
  if (typeof body !== 'string') return values;
  for (const pair of body.split('&')) {
    const equals = pair.indexOf('=');
    if (equals <= 0) continue;
    const name = decodeFormValue(pair.slice(0, equals)) as Name;
    if (!names.includes(name)) continue;
    const value = decodeFormValue(pair.slice(equals + 1));
    if (value === '') continue;
    if (values[name] !== undefined)
      throw new OAuthError('invalid_request', `The parameter ${name} occurs more than once.`);
    if (name === 'redirect_uri' ? CONTROL.test(value) : !PRINTABLE.test(value))
      throw new OAuthError('invalid_request', `The parameter ${name} contains invalid characters.`);
    values[name] = value;
  }
  return values;
}

/** @throws OAuthError `invalid_request` if the parameter is missing */
export function requireParameter<Name extends string>(
  parameters: Partial<Record<Name, string>>,
  name: Name,
): string {
  const value = parameters[name];
  if (value === undefined) throw new OAuthError('invalid_request', `The parameter ${name} is missing.`);
  return value;
}

/** @throws OAuthError `invalid_request` if the text is not form-encoded */
export function decodeFormValue(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new OAuthError('invalid_request', 'The body is not form-encoded.');
  }
}
