import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';

/** The routes outside the areas: health, readiness, public keys. */
export function registerServerRoutes(app: FastifyInstance, { db, keys }: Context): void {
  const hidden = { schema: { hide: true } } as const;

  app.get('/healthz', { config: { operation: 'healthz', access: 'unlimited' }, ...hidden }, async () => ({
    status: 'ok',
  }));

  app.get('/readyz', { config: { operation: 'readyz', access: 'unlimited' }, ...hidden }, async () => {
    await db.check();
    return { status: 'ready' };
  });

  app.get(
    '/.well-known/jwks.json',
    { config: { operation: 'jwks', access: 'open' }, ...hidden },
    async (_request, reply) => reply.header('cache-control', 'public, max-age=300').send(keys.jwks),
  );
}
