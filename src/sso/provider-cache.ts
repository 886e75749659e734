import { LRUCache } from 'lru-cache';
import type { Configuration } from 'openid-client';
import type { Context } from '../runtime/context.ts';
import type { IdentityProvider } from '../domain/sign-in/identity-providers.ts';
import { discoverProvider, ProviderError } from './provider.ts';
import { unsealClientSecret } from './registration.ts';

const MAX_PROVIDERS = 200;
const LIFETIME = 600_000;
/** How soon one that failed is asked again: strangers ask for it, as often as they like. */
const FAILURE_LIFETIME = 10_000;
/** So many are asked at once. */
const MAX_CONCURRENT_DISCOVERIES = 50;

interface Entry {
  configuration: Promise<Configuration>;
  until: number;
}

/**
 * Keeps the metadata of providers for ten minutes, and for ten seconds that there were none. One that is set anew is
 * discovered anew.
 */
export class ProviderCache {
  readonly #context: Context;
  #asked = 0;
  readonly #entries = new LRUCache<string, Entry>({ max: MAX_PROVIDERS });

  constructor(context: Context) {
    this.#context = context;
  }

  /** @throws ProviderProblem when it does not answer, or is not what it should be, now or a moment ago */
  getConfiguration(provider: IdentityProvider): Promise<Configuration> {
    const { organization, issuer, clientId, sealedSecret } = provider;
    const key = JSON.stringify([organization, issuer, clientId, sealedSecret]);
    const now = this.#context.clock();
    const known = this.#entries.get(key);
    if (known !== undefined && known.until > now) return known.configuration;
    const configuration = this.#discover(provider);
    const entry = { configuration, until: now + LIFETIME };
    this.#entries.set(key, entry);
    // From the answer on, as it may have kept us waiting. The promise stays, so that nobody waits for the same again.
    configuration.catch(() => (entry.until = this.#context.clock() + FAILURE_LIFETIME));
    return configuration;
  }

  async #discover({ issuer, clientId, sealedSecret }: IdentityProvider): Promise<Configuration> {
    const secret = sealedSecret === null ? null : unsealClientSecret(this.#context.keys.secret, sealedSecret);
    if (secret === undefined) {
      throw new ProviderError(
        'wrong',
        'the client secret was sealed with another key of the data folder; run "assay sso set" again',
      );
    }
    if (this.#asked >= MAX_CONCURRENT_DISCOVERIES)
      throw new ProviderError('unreachable', 'too many providers are asked at once');
    this.#asked += 1;
    try {
      return await discoverProvider({ issuer, clientId, secret });
    } finally {
      this.#asked -= 1;
    }
  }
}
