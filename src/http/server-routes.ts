import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';

/** Registers the routes outside the areas: health, readiness and public keys. */
export function registerServerRoutes(app: FastifyInstance, { clock, db, keys }: Context): void {
  const hidden = { schema: { hide: true } } as const;

  app.get('/healthz', { config: { operation: 'healthz', access: 'unlimited' }, ...hidden }, async () => ({
    status: 'ok',
  }));

  app.get('/readyz', { config: { operation: 'readyz', access: 'unlimited' }, ...hidden }, async () => {
    await db.check(clock());
    return { status: 'ready' };
  });

  app.get(
    '/.well-known/jwks.json',
    { config: { operation: 'jwks', access: 'open' }, ...hidden },
    async (_request, reply) =>
      reply
        .headers({ 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' })
        .send(await keys.jwks()),
  );
}
