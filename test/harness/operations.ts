import { buildApp } from '../../src/app.ts';
import { sufficientScopes } from '../../src/auth/scopes.ts';
import type { TestServer } from './server.ts';

/** An operation of the API, from its route. */
export interface RoutedOperation {
  name: string;
  method: string;
  /** Matches its paths. */
  pattern: RegExp;
  /** It requires one of these scopes. */
  scopes: readonly string[];
  /** Whether it supports `If-Match`, and `Idempotency-Key`. */
  versioned: boolean;
  idempotent: boolean;
}

/** Returns all operations of the API, from the routes. */
export async function operationsOf({ context }: TestServer): Promise<RoutedOperation[]> {
  const operations: RoutedOperation[] = [];
  const app = await buildApp(context, ({ method, url, config, schema }) => {
    // Hidden routes are other spellings of a path.
    if (typeof config?.access !== 'object' || method === 'HEAD' || schema?.hide === true) return;
    const path = url.split('::').map((part) => part.replace(/:\w+/g, '[^/]+'));
    operations.push({
      name: config.operation,
      method: String(method),
      pattern: new RegExp(`^${path.join(':')}$`),
      scopes: sufficientScopes(config.access.scopes, String(method)),
      versioned: config.versioned === true,
      idempotent: config.idempotent === true,
    });
  });
  await app.close();
  return operations;
}
