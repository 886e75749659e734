/** Where someone who signed in goes when they were not on the way to anything else: the console. */
export const HOME = '/';

/** What the console has beside its first page; each has pages of its own below it. */
export const PLACES = [
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
const RETURNS = new RegExp(
  `^(/|/account(/[0-9A-Za-z-]+){0,2}|/(${PLACES.join('|')})(/[0-9A-Za-z%._~-]+){0,2}|/oauth/authorize)$`,
);

/** @returns the address of the sign-in page that leads back to `to` */
export function signInAddress(to: string): string {
  const path = returnPath(to);
  return path === HOME ? '/sign-in' : `/sign-in?to=${encodeURIComponent(path)}`;
}

/**
 * Keeps a sign-in from being used to send people elsewhere (RFC 9700, section 4.11).
 * @returns the path and query if it is one of ours that a sign-in may lead to, and the console otherwise
 */
export function returnPath(to: string | undefined): string {
  if (to === undefined || !URL.canParse(to, 'http://assay.invalid')) return HOME;
  const url = new URL(to, 'http://assay.invalid');
  const isOurs = url.origin === 'http://assay.invalid' && RETURNS.test(url.pathname);
  return isOurs ? url.pathname + url.search : HOME;
}
