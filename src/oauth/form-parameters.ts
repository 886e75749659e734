import type { FastifyInstance } from 'fastify';
import { SMALL_BODY_LIMIT } from '../http/json-bodies.ts';
import { OAuthError } from './oauth-error.ts';

/** Of the parameters, only an address may have other characters (RFC 6749, appendix A). */
const PRINTABLE = /^[\x20-\x7e]*$/;
const CONTROL = /\p{Cc}/u;

/** Takes form-encoded bodies, and no others (RFC 6749, section 3.2). */
export function acceptForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    // Parameters are short; the longest are a JWT and a redirect address.
    { parseAs: 'string', bodyLimit: SMALL_BODY_LIMIT },
    (_request, body, done) => done(null, body),
  );
}

/**
 * Reads the parameters of a form. Others than these are ignored, and an empty one is as good as none.
 * @throws OAuthError `invalid_request` for one that is there twice, and for what is no form
 */
export function parseFormParameters<const Name extends string>(
  body: unknown,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  if (typeof body !== 'string') return found;
  for (const pair of body.split('&')) {
    const equals = pair.indexOf('=');
    if (equals <= 0) continue;
    const name = decodeFormValue(pair.slice(0, equals)) as Name;
    if (!names.includes(name)) continue;
    const value = decodeFormValue(pair.slice(equals + 1));
    if (value === '') continue;
    if (found[name] !== undefined)
      throw new OAuthError('invalid_request', `The parameter ${name} is in the request more than once.`);
    if (name === 'redirect_uri' ? CONTROL.test(value) : !PRINTABLE.test(value))
      throw new OAuthError('invalid_request', `The parameter ${name} has characters that it cannot have.`);
    found[name] = value;
  }
  return found;
}

/** @returns a parameter that must be there */
export function requireParameter<Name extends string>(
  parameters: Partial<Record<Name, string>>,
  name: Name,
): string {
  const value = parameters[name];
  if (value === undefined) throw new OAuthError('invalid_request', `The parameter ${name} is missing.`);
  return value;
}

/**
 * @returns a text as it was before it was form-encoded
 * @throws OAuthError `invalid_request` when it is not encoded so
 */
export function decodeFormValue(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new OAuthError('invalid_request', 'The body is not form-encoded.');
  }
}
