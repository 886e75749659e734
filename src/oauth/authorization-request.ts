import type { Context } from '../context.ts';
import { clientById, isRegisteredRedirect } from '../domain/oauth-clients.ts';

/** What a form's policy can name: a scheme with a host, or the scheme of an application. */
const FORM_TARGET = /^[a-z][a-z0-9+.-]*:(\/\/[a-z0-9.-]+(:\d+)?|\/\/\[[0-9a-f:]+\](:\d+)?)?$/;

/**
 * Where a form of ours may end up when it leads back to an authorization request: a browser holds redirects after a form
 * to the page's policy.
 * @param path one of ours, as `returnPath` gives it
 * @returns the origin of the request's redirect address, if its client registered that; else nothing
 */
export async function formTargetsOf(context: Context, path: string): Promise<string[]> {
  const url = new URL(path, 'http://assay.invalid');
  const redirect = url.searchParams.get('redirect_uri');
  const client = await clientById(context.db.read, url.searchParams.get('client_id') ?? '');
  if (url.pathname !== '/oauth/authorize' || client === undefined || redirect === null) return [];
  if (!isRegisteredRedirect(client, redirect, context.addresses.clientBaseUrl)) return [];
  return formTarget(redirect);
}

/** @returns the source by which a policy allows a form to lead to this redirect address */
export function formTarget(redirect: string): string[] {
  const { origin, protocol } = new URL(redirect);
  const target = origin === 'null' ? protocol : origin;
  return FORM_TARGET.test(target) ? [target] : [];
}
