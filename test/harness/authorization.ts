import { expect } from 'vitest';
import type { FormPage, FormClient } from './form-client.ts';

/** The pair of RFC 7636, appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
export const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' } as const;

export const CALLBACK = 'https://app.example/callback';

/** @returns the path of an authorization request; lists repeat their parameter, `undefined` omits it */
export function authorizePath(parameters: Record<string, string | string[] | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    for (const item of [value ?? []].flat()) query.append(name, item);
  return `/oauth/authorize?${query}`;
}

export interface AuthorizationResponse {
  /** Everything before the parameters. */
  address: string;
  query: Record<string, string>;
  fragment: Record<string, string>;
}

/** @returns the response in a redirect, which must be a 303 with headers against caches and referrers */
export function responseOf({ status, headers }: FormPage): AuthorizationResponse {
  expect(status).toBe(303);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  const location = headers.get('location') ?? '';
  const [, address = '', query = '', fragment = ''] =
    /^([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/.exec(location) ?? [];
  return { address, query: parametersIn(query), fragment: parametersIn(fragment) };
}

/** Opens the consent page of a request and presses one of its buttons. */
export async function decide(
  visitor: FormClient,
  path: string,
  decision: 'allow' | 'deny',
): Promise<FormPage> {
  const page = await visitor.open(path);
  expect([page.status, page.text.includes('Allow access?')]).toEqual([200, true]);
  return visitor.submit(page, { decision }, path);
}

function parametersIn(text: string): Record<string, string> {
  const parameters = new URLSearchParams(text);
  // RFC 6749, section 3.1: a response repeats no parameter.
  expect(new Set(parameters.keys()).size).toBe([...parameters.keys()].length);
  return Object.fromEntries(parameters);
}
