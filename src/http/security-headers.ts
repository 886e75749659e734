import type { Config } from '../config/config.ts';

const YEAR_SECONDS = 31_536_000;

/**
 * The headers that every response starts with: no sniffing, no framing, no referrer, nothing loaded, nothing stored.
 * A route whose answer may be kept, or is a page, says so itself.
 */
export function securityHeaders(config: Pick<Config, 'clientBaseUrl'>): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    // Over plain HTTP a browser ignores it, so it is sent where users come through https.
    ...(config.clientBaseUrl?.startsWith('https:') === true
      ? { 'strict-transport-security': `max-age=${YEAR_SECONDS}; includeSubDomains` }
      : {}),
  };
}
