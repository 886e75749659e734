import { buildApp } from '../../src/app.ts';
import type { TestServer } from './server.ts';

/** An operation of the API, as its route has it. */
export interface RoutedOperation {
  name: string;
  method: string;
  /** Of its paths. */
  pattern: RegExp;
  /** Whether it looks at `If-Match`, and at `Idempotency-Key`. */
  versioned: boolean;
  repeats: boolean;
}

/** @returns every operation of the API, from the routes */
export async function operationsOf({ context }: TestServer): Promise<RoutedOperation[]> {
  const operations: RoutedOperation[] = [];
  const app = await buildApp(context, ({ method, url, config, schema }) => {
    // Hidden is what spells a path in another way for the router.
    if (typeof config?.access !== 'object' || method === 'HEAD' || schema?.hide === true) return;
    const path = url.split('::').map((part) => part.replace(/:\w+/g, '[^/]+'));
    operations.push({
      name: config.operation,
      method: String(method),
      pattern: new RegExp(`^${path.join(':')}$`),
      versioned: config.versioned === true,
      repeats: config.repeats === true,
    });
  });
  await app.close();
  return operations;
}
