/** Where users go after sign-in without another destination. */
export const CONSOLE_HOME = '/';

/** The paths of the console besides its home page, each with pages below it. */
export const CONSOLE_PATHS = [
  'vulnerabilities',
  'assets',
  'assessments',
  'groups',
  'people',
  'tags',
  'imports',
  'audit',
] as const;

/**
 * The possible destinations of a sign-in: the console, the account pages and authorization requests; never another
 * site.
 */
const RETURN_PATHS = new RegExp(
  `^(/|/account(/[0-9A-Za-z-]+){0,3}|/(${CONSOLE_PATHS.join('|')})(/[0-9A-Za-z%._~-]+){0,2}|/oauth/authorize)$`,
);

/**
 * @returns the URL of the sign-in page that leads to `returnTo`, or to the console if `returnTo` is not a possible
 *   destination
 */
export function signInPath(returnTo: string): string {
  const path = safeReturnPath(returnTo);
  return path === CONSOLE_HOME ? '/sign-in' : `/sign-in?to=${encodeURIComponent(path)}`;
}

/**
 * Prevents open redirects (RFC 9700, section 4.11).
 * @returns the path and query if it is a possible destination of a sign-in, else the console
 */
export function safeReturnPath(path: string | undefined): string {
  const url = path === undefined ? null : URL.parse(path, 'http://assay.invalid');
  if (url === null) return CONSOLE_HOME;
  const isOurs = url.origin === 'http://assay.invalid' && RETURN_PATHS.test(url.pathname);
  return isOurs ? url.pathname + url.search : CONSOLE_HOME;
}
