import { LRUCache } from 'lru-cache';
import type { Configuration } from 'openid-client';
import type { Context } from '../context.ts';
import type { IdentityProvider } from '../domain/sign-in/identity-providers.ts';
import { discoverProvider, ProviderProblem } from './provider.ts';
import { openClientSecret } from './registration.ts';

const MAX_PROVIDERS = 200;
const LIFETIME = 600_000;

interface Entry {
  configuration: Promise<Configuration>;
  until: number;
}

/** Keeps the metadata of providers for ten minutes. One that is set anew is discovered anew. */
export class ProviderCache {
  readonly #context: Context;
  readonly #entries = new LRUCache<string, Entry>({ max: MAX_PROVIDERS });

  constructor(context: Context) {
    this.#context = context;
  }

  /** @throws ProviderProblem when it does not answer, or is not what it should be; the next call asks again */
  configurationOf(provider: IdentityProvider): Promise<Configuration> {
    const { organization, issuer, clientId, sealedSecret } = provider;
    const key = JSON.stringify([organization, issuer, clientId, sealedSecret]);
    const now = this.#context.clock();
    const known = this.#entries.get(key);
    if (known !== undefined && known.until > now) return known.configuration;
    const configuration = this.#discover(provider);
    const entry = { configuration, until: now + LIFETIME };
    this.#entries.set(key, entry);
    configuration.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    return configuration;
  }

  async #discover({ issuer, clientId, sealedSecret }: IdentityProvider): Promise<Configuration> {
    const secret = sealedSecret === null ? null : openClientSecret(this.#context.keys.secret, sealedSecret);
    if (secret === undefined) {
      throw new ProviderProblem(
        'wrong',
        'the client secret was sealed with another key of the data folder; run "assay sso set" again',
      );
    }
    return discoverProvider({ issuer, clientId, secret });
  }
}
