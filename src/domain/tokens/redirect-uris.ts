import type { FieldErrorReason } from '../shared/errors.ts';

const MAX_LENGTH = 2_048;

/** Parameters that the response adds to a redirect URI of the code flow. */
const RESPONSE_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'] as const;

/**
 * The characters of a URI (RFC 3986, section 2), the only ones allowed in the header `Location` (RFC 9110, section
 * 10.2.2).
 */
const CHARACTERS = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/;

const LOOPBACK_HOSTS = ['127.0.0.1', '[::1]', 'localhost'];
/** The names of an IPv4 server on the local machine: another user's program can listen on the same port of `[::1]`. */
const IPV4_LOOPBACK_HOSTS = ['127.0.0.1', 'localhost'];

/**
 * Validates a redirect URI: absolute and without a fragment (RFC 6749, section 3.1.2); with https, with http on a
 * loopback address, or with a private scheme that contains a dot (RFC 8252, section 7.1).
 * @returns the error, if any
 */
export function validateRedirectUri(uri: string): FieldErrorReason | undefined {
  if (uri.length > MAX_LENGTH) return { code: 'too-long', params: { max: MAX_LENGTH } };
  const url = URL.parse(uri);
  if (/[\s\\]/.test(uri) || url === null) return { code: 'redirect-uri-not-absolute' };
  // Browsers normalize other characters, so that the URI would not compare equal.
  if (!CHARACTERS.test(uri)) return { code: 'redirect-uri-characters' };
  // Without two slashes and a host, browsers read it as a path of the current page.
  if (/^https?:$/.test(url.protocol) && !/^https?:\/\/[^/]/i.test(uri))
    return { code: 'redirect-uri-not-absolute' };
  if (uri.includes('#')) return { code: 'redirect-uri-fragment' };
  // A parameter must not occur twice in a response (RFC 6749, section 3.1).
  const parameter = RESPONSE_PARAMETERS.find((name) => url.searchParams.has(name));
  if (parameter !== undefined) return { code: 'redirect-uri-parameter', params: { name: parameter } };
  if (url.username !== '' || url.password !== '') return { code: 'url-with-credentials' };
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:') return isLoopback(url) ? undefined : { code: 'redirect-uri-insecure' };
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(url.protocol)
    ? undefined
    : { code: 'redirect-uri-scheme' };
}

/**
 * Compares character by character (RFC 9700, section 4.1.3); only the port of a loopback address may differ (RFC
 * 8252, section 7.3).
 * @param client the client with its registered URIs
 * @param clientBaseUrl the URL of this deployment, for registered paths
 * @returns whether an authorization response may go to the URI
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

/**
 * Whether only the client itself can receive a response at a registered URI: on an https URL or a page of this
 * deployment, while any program of the machine can listen on a loopback port or claim a private scheme (RFC 8252,
 * section 8.6).
 */
export function identifiesClient(
  client: { redirectUris: readonly string[] },
  uri: string,
  clientBaseUrl: string,
): boolean {
  return (
    uri.startsWith('https:') ||
    client.redirectUris.some(
      (registered) => registered.startsWith('/') && isOwnPage(registered, uri, clientBaseUrl),
    )
  );
}

/**
 * A page of this deployment, in the configured form or as browsers normalize it. A deployment on the local machine has
 * two names, with the same port.
 */
function isOwnPage(path: string, uri: string, clientBaseUrl: string): boolean {
  const page = new URL(clientBaseUrl + path);
  if (uri === clientBaseUrl + path || uri === page.href) return true;
  return (
    page.protocol === 'http:' &&
    IPV4_LOOPBACK_HOSTS.includes(page.hostname) &&
    IPV4_LOOPBACK_HOSTS.some((host) => uri === withHost(page, host).href)
  );
}

function isSameOnLoopback(registered: string, uri: string): boolean {
  const url = URL.parse(uri);
  if (url === null || !isLoopback(url) || !isLoopback(new URL(registered))) return false;
  return withoutPort(uri) === withoutPort(registered);
}

function withHost(url: URL, host: string): URL {
  const copy = new URL(url);
  copy.hostname = host;
  return copy;
}

function isLoopback(url: URL): boolean {
  return url.protocol === 'http:' && LOOPBACK_HOSTS.includes(url.hostname);
}

/** @returns the text of a loopback URI without its port */
function withoutPort(uri: string): string {
  return uri.replace(/^(http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])):\d{1,5}(?=[/?]|$)/, '$1');
}
