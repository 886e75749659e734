import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import type { IdentityProvider } from '../domain/sign-in/identity-providers.ts';
import { type DiscoveredProvider, discoverProvider, ProviderError } from './provider.ts';
import { decryptClientSecret } from './provider-setup.ts';

const MAX_PROVIDERS = 200;
/** Milliseconds until metadata are fetched again. */
const CACHE_LIFETIME = 600_000;
/** Milliseconds until a failed discovery is retried: unauthenticated requests trigger it. */
const FAILURE_LIFETIME = 10_000;
const MAX_CONCURRENT_DISCOVERIES = 50;

interface CachedProvider {
  discovered: Promise<DiscoveredProvider>;
  expiresAt: number;
}

/**
 * Caches the metadata of providers for ten minutes, and failures for ten seconds. A provider with new settings is
 * another entry.
 */
export class ProviderCache {
  readonly #context: Context;
  #discoveries = 0;
  readonly #entries = new LRUCache<string, CachedProvider>({ max: MAX_PROVIDERS });

  constructor(context: Context) {
    this.#context = context;
  }

  /** @throws ProviderError if discovery fails, or failed less than ten seconds ago */
  discover(provider: IdentityProvider): Promise<DiscoveredProvider> {
    const { organization, issuer, clientId, encryptedSecret } = provider;
    const key = JSON.stringify([organization, issuer, clientId, encryptedSecret]);
    const now = this.#context.clock();
    const cached = this.#entries.get(key);
    if (cached !== undefined && cached.expiresAt > now) return cached.discovered;
    const discovered = this.#discover(provider);
    const entry = { discovered, expiresAt: now + CACHE_LIFETIME };
    this.#entries.set(key, entry);
    // The lifetime of a failure starts when the request has failed. The rejected promise stays, so that callers fail
    // fast.
    discovered.catch(() => (entry.expiresAt = this.#context.clock() + FAILURE_LIFETIME));
    return discovered;
  }

  async #discover({ issuer, clientId, encryptedSecret }: IdentityProvider): Promise<DiscoveredProvider> {
    const secret =
      encryptedSecret === null ? null : decryptClientSecret(this.#context.keys.secret, encryptedSecret);
    if (secret === undefined) {
      throw new ProviderError(
        'wrong',
        'the client secret was encrypted with another key; run "assay sso set" again',
      );
    }
    if (this.#discoveries >= MAX_CONCURRENT_DISCOVERIES)
      throw new ProviderError('unreachable', 'too many identity providers are being contacted at once');
    this.#discoveries += 1;
    try {
      return await discoverProvider({ issuer, clientId, secret }, this.#context.clock);
    } finally {
      this.#discoveries -= 1;
    }
  }
}
