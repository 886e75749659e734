import type { FieldProblem } from '../shared/errors.ts';

const MAX_LENGTH = 2_048;

/** What is added to a redirect address of the code flow. */
const RESPONSE_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'] as const;

/** What an address is written in (RFC 3986, section 2). A header takes nothing else. */
const CHARACTERS = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/;

/**
 * Registered addresses are absolute and without a fragment (RFC 6749, section 3.1.2); https, or http on this machine
 * alone, or a scheme of the application's own with a dot in it (RFC 8252, section 7.1).
 * @returns what is wrong with one, or nothing
 */
export function validateRedirectUri(uri: string): FieldProblem | undefined {
  if (uri.length > MAX_LENGTH) return { code: 'too-long', params: { max: MAX_LENGTH } };
  if (/[\s\\]/.test(uri) || !URL.canParse(uri)) return { code: 'redirect-uri-not-absolute' };
  // Others are read alike when it is given and differently when a browser is sent there.
  if (!CHARACTERS.test(uri)) return { code: 'redirect-uri-characters' };
  const url = new URL(uri);
  // Without two slashes and a host, a browser takes it for a path of the page that it is on.
  if (/^https?:$/.test(url.protocol) && !/^https?:\/\/[^/]/i.test(uri))
    return { code: 'redirect-uri-not-absolute' };
  if (uri.includes('#')) return { code: 'redirect-uri-fragment' };
  // No parameter may be in a response twice (RFC 6749, section 3.1).
  const own = RESPONSE_PARAMETERS.find((name) => url.searchParams.has(name));
  if (own !== undefined) return { code: 'redirect-uri-parameter', params: { name: own } };
  if (url.username !== '' || url.password !== '') return { code: 'url-with-credentials' };
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:') return isLoopback(url) ? undefined : { code: 'redirect-uri-insecure' };
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(url.protocol)
    ? undefined
    : { code: 'redirect-uri-scheme' };
}

/**
 * Compares exactly, character by character (RFC 9700, section 4.1.3); only the port of a loopback address may differ
 * (RFC 8252, section 7.3).
 * @param client whose registered addresses count
 * @param clientBaseUrl of this deployment, for registered addresses that are relative to it
 * @returns whether an authorization response may go there
 */
export function isRegisteredRedirect(
  client: { redirectUris: readonly string[] },
  uri: string,
  clientBaseUrl: string,
): boolean {
  return client.redirectUris.some((registered) =>
    registered.startsWith('/')
      ? isOwnPage(registered, uri, clientBaseUrl)
      : uri === registered || isSameOnLoopback(registered, uri),
  );
}

/** A page of this deployment, as it is configured, or as a browser writes that. */
function isOwnPage(path: string, uri: string, clientBaseUrl: string): boolean {
  const whole = clientBaseUrl + path;
  if (uri === whole || uri === new URL(whole).href) return true;
  // On this machine, the deployment's own pages are reached by any of its names.
  return (
    isLoopback(new URL(whole)) &&
    URL.canParse(uri) &&
    new RegExp(`^http://(127\\.0\\.0\\.1|localhost|\\[::1\\])(:\\d{1,5})?${escape(path)}$`).test(uri)
  );
}

function isSameOnLoopback(registered: string, uri: string): boolean {
  if (!URL.canParse(uri) || !isLoopback(new URL(uri)) || !isLoopback(new URL(registered))) return false;
  return withoutPort(uri) === withoutPort(registered);
}

/** The two loopback addresses, and the name for them. */
function isLoopback(url: URL): boolean {
  return url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
}

/** @returns the text of a loopback address with its port cut out, and nothing else changed */
function withoutPort(uri: string): string {
  return uri.replace(/^(http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])):\d{1,5}(?=[/?]|$)/, '$1');
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
