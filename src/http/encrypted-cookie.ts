import type { FastifyReply, FastifyRequest } from 'fastify';
import { decryptSecret, encryptSecret } from '../auth/encrypt-secret.ts';
import type { Context } from '../context.ts';
import { cookieOptions, prefixedCookieName } from './browser-sessions.ts';

/**
 * Defines a cookie that hands a value to a later request of the same browser, encrypted and for a limited time. The
 * browser may keep a copy, so whatever may happen only once must be consumed in the database too.
 * @param name without the prefix of cookies
 * @param purpose separates its values from those of other cookies; must not change while values are in use
 * @param lifetime milliseconds
 */
export function defineEncryptedCookie<T extends object>(name: string, purpose: string, lifetime: number) {
  return {
    /** Replaces an earlier value. */
    set(context: Context, reply: FastifyReply, value: T): void {
      const text = JSON.stringify({ ...value, expiresAt: context.clock() + lifetime });
      reply.setCookie(prefixedCookieName(context, name), encryptSecret(context.keys.secret, purpose, text), {
        ...cookieOptions(context),
        maxAge: lifetime / 1_000,
      });
    },
    /** Reads and clears the cookie. @returns `undefined` if there is none, or it has expired */
    take(
      context: Context,
      request: FastifyRequest,
      reply: FastifyReply,
    ): (T & { expiresAt: number }) | undefined {
      const cookieName = prefixedCookieName(context, name);
      const encrypted = request.cookies[cookieName];
      reply.clearCookie(cookieName, cookieOptions(context));
      const text = encrypted && decryptSecret(context.keys.secret, purpose, encrypted);
      if (!text) return undefined;
      const value = JSON.parse(text) as T & { expiresAt: number };
      return value.expiresAt > context.clock() ? value : undefined;
    },
  };
}
