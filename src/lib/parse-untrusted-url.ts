/** Characters of user, host and port. A host name has at most 253. */
const MAX_AUTHORITY = 1_000;
/** The user, host and port of a URL without tabs and line breaks (WHATWG URL, section 4.4). */
const AUTHORITY = /^[\0- ]*(?:[a-z][a-z\d+.-]*:[/\\]*|[/\\]{2,})([^/\\?#]*)/i;

/**
 * `URL.parse` for texts that others wrote: the time that it takes to convert a host name to Punycode is quadratic in
 * its length, an hour for a megabyte.
 * @returns `null` also if user, host and port have more than 1,000 characters
 */
export function parseUntrustedUrl(text: string, base?: string): URL | null {
  const authority = AUTHORITY.exec(text.replace(/[\t\n\r]+/g, ''))?.[1] ?? '';
  return authority.length > MAX_AUTHORITY ? null : URL.parse(text, base);
}
