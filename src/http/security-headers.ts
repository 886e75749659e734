import type { Config } from '../config/config.ts';

const YEAR_SECONDS = 31_536_000;

/**
 * Default headers of every response: no sniffing, no framing, no referrer, no loading, no caching. Routes override
 * them.
 */
export function securityHeaders(config: Pick<Config, 'clientBaseUrl'>): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    // Browsers ignore it over plain HTTP, so it is sent only if users connect by https.
    ...(config.clientBaseUrl?.startsWith('https:') === true
      ? { 'strict-transport-security': `max-age=${YEAR_SECONDS}; includeSubDomains` }
      : {}),
  };
}
