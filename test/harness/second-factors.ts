import { generateSync } from 'otplib';
import type { FormPage, FormClient } from './form-client.ts';

export const SECOND_FACTOR = '/sign-in/second-factor';
export const SECURITY = '/account/security';

/** @returns the code of an authenticator app at a time in milliseconds */
export function totpCodeAt(secret: string, now: number): string {
  return generateSync({ secret, epoch: Math.floor(now / 1000) });
}

/** @returns the secret on the page that sets up an authenticator app */
export function setupKeyOn({ text }: FormPage): string {
  return (/id="totp-secret">([^<]+)</.exec(text)?.[1] ?? '').replaceAll(/\s/g, '');
}

/** @returns the recovery codes on a page */
export function recoveryCodesOn({ text }: FormPage): string[] {
  const list = /id="recovery-codes">(.*?)<\/ol>/s.exec(text)?.[1] ?? '';
  return [...list.matchAll(/<code>([^<]+)<\/code>/g)].map(([, code = '']) => code);
}

/** @returns the error on a page */
export function alertOn({ text }: FormPage): string {
  return /role="alert">(.*?)</.exec(text)?.[1] ?? '';
}

/** Sets up an authenticator app for the user who has just signed in. */
export async function setUpTotp(
  visitor: FormClient,
  now: number,
): Promise<{ secret: string; codes: string[]; page: FormPage }> {
  const form = await visitor.open(`${SECURITY}/authenticator`);
  const secret = setupKeyOn(form);
  const page = await visitor.submit(form, { code: totpCodeAt(secret, now) }, `${SECURITY}/authenticator`);
  return { secret, codes: recoveryCodesOn(page), page };
}

/** Submits a code of an authenticator app, or a recovery code, in a session that waits for it. */
export async function sendCode(
  visitor: FormClient,
  field: 'code' | 'recovery_code',
  code: string,
): Promise<FormPage> {
  const page = await visitor.open(SECOND_FACTOR);
  return visitor.submit(
    page,
    { [field]: code },
    field === 'code' ? SECOND_FACTOR : `${SECOND_FACTOR}/recovery`,
  );
}
