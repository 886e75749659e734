import findMyWay from 'find-my-way';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from './problems.ts';

const MAX_PATH_SHOWN = 200;
/** The router finds paths alone: it has all of them under one method. */
const ROUTER_METHOD = 'GET';

interface KnownPath {
  methods: Set<string>;
  /** Where it is registered: errors of it are answered as there. */
  scope: FastifyInstance;
}

/**
 * Remembers which methods the paths of an app get; to be called before it has routes.
 * @returns what to call for each request, as Fastify has 404 for a method that a path lacks, or takes `DELETE /things/all`
 *   for a thing called `all`. It answers 405 (RFC 9110, section 15.5.6) and returns the reply, or nothing where the path has
 *   the method; it throws a Problem `not-found` where there is nothing at the path. A route for each method that a path
 *   lacks would do the same, by the thousand.
 */
export function rejectUnknownPaths(
  app: FastifyInstance,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined> {
  const known = new Map<string, KnownPath>();
  const router = findMyWay({ maxParamLength: app.initialConfig.routerOptions?.maxParamLength ?? 100 });
  app.addHook('onRoute', function remember(this: FastifyInstance, { url, method }) {
    let path = known.get(url);
    if (path === undefined) {
      known.set(url, (path = { methods: new Set(), scope: this }));
      router.on(ROUTER_METHOD, url, () => undefined, path);
    }
    for (const name of [method].flat()) path.methods.add(name);
  });
  return async (request, reply) => {
    const [address = ''] = request.url.split('?', 1);
    const found = router.find(ROUTER_METHOD, address)?.store as KnownPath | undefined;
    if (found === undefined)
      throw new Problem('not-found', `There is nothing at ${address.slice(0, MAX_PATH_SHOWN)}.`, {
        source: 'path',
      });
    if (found.methods.has(request.method)) return undefined;
    const allow = [...found.methods].sort().join(', ');
    const problem = new Problem(
      'method-not-allowed',
      `${request.method} is not allowed here. Allowed: ${allow}.`,
      { source: 'method', headers: { allow } },
    );
    // Ours are all asynchronous, which its type does not tell.
    const answered: unknown = found.scope.errorHandler(problem, request, reply);
    await answered;
    return reply;
  };
}
