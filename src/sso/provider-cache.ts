import { LRUCache } from 'lru-cache';
import type { Configuration } from 'openid-client';
import type { Context } from '../runtime/context.ts';
import type { IdentityProvider } from '../domain/sign-in/identity-providers.ts';
import { discoverProvider, ProviderError } from './provider.ts';
import { unsealClientSecret } from './registration.ts';

const MAX_PROVIDERS = 200;
const LIFETIME = 600_000;
/** Milliseconds until a failed discovery is retried: unauthenticated requests trigger it. */
const FAILURE_LIFETIME = 10_000;
const MAX_CONCURRENT_DISCOVERIES = 50;

interface Entry {
  configuration: Promise<Configuration>;
  until: number;
}

/** Caches the metadata of providers for ten minutes, and failures for ten seconds. A reconfigured provider is a new entry. */
export class ProviderCache {
  readonly #context: Context;
  #discoveries = 0;
  readonly #entries = new LRUCache<string, Entry>({ max: MAX_PROVIDERS });

  constructor(context: Context) {
    this.#context = context;
  }

  /** @throws ProviderError when discovery fails, or has failed a moment ago */
  getConfiguration(provider: IdentityProvider): Promise<Configuration> {
    const { organization, issuer, clientId, sealedSecret } = provider;
    const key = JSON.stringify([organization, issuer, clientId, sealedSecret]);
    const now = this.#context.clock();
    const known = this.#entries.get(key);
    if (known !== undefined && known.until > now) return known.configuration;
    const configuration = this.#discover(provider);
    const entry = { configuration, until: now + LIFETIME };
    this.#entries.set(key, entry);
    // The lifetime of a failure starts when the request has failed. The rejected promise stays, so that callers fail fast.
    configuration.catch(() => (entry.until = this.#context.clock() + FAILURE_LIFETIME));
    return configuration;
  }

  async #discover({ issuer, clientId, sealedSecret }: IdentityProvider): Promise<Configuration> {
    const secret = sealedSecret === null ? null : unsealClientSecret(this.#context.keys.secret, sealedSecret);
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
      return await discoverProvider({ issuer, clientId, secret });
    } finally {
      this.#discoveries -= 1;
    }
  }
}
