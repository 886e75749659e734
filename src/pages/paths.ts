/** Where someone who signed in goes when they were not on the way to anything else: the console. */
export const CONSOLE_HOME = '/';

/** What the console has beside its first page; each has pages of its own below it. */
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

/** What a sign-in may lead back to: the console, the pages of the account and an authorization request; never another site. */
const RETURN_PATHS = new RegExp(
  `^(/|/account(/[0-9A-Za-z-]+){0,2}|/(${CONSOLE_PATHS.join('|')})(/[0-9A-Za-z%._~-]+){0,2}|/oauth/authorize)$`,
);

/** @returns the address of the sign-in page that leads back to `to` */
export function signInPath(to: string): string {
  const path = safeReturnPath(to);
  return path === CONSOLE_HOME ? '/sign-in' : `/sign-in?to=${encodeURIComponent(path)}`;
}

/**
 * Keeps a sign-in from being used to send people elsewhere (RFC 9700, section 4.11).
 * @returns the path and query if it is one of ours that a sign-in may lead to, and the console otherwise
 */
export function safeReturnPath(to: string | undefined): string {
  if (to === undefined || !URL.canParse(to, 'http://assay.invalid')) return CONSOLE_HOME;
  const url = new URL(to, 'http://assay.invalid');
  const isOurs = url.origin === 'http://assay.invalid' && RETURN_PATHS.test(url.pathname);
  return isOurs ? url.pathname + url.search : CONSOLE_HOME;
}
