import findMyWay from 'find-my-way';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from './problems.ts';

const MAX_PATH_SHOWN = 200;
/** The router matches paths only, so all are registered under one method. */
const ROUTER_METHOD = 'GET';

interface KnownPath {
  methods: Set<string>;
  /** The Fastify scope of the route; its error handler responds. */
  scope: FastifyInstance;
}

/**
 * Records the methods of each path. Call before routes are added.
 * @param limit counts a request that is rejected; returns the problem to respond with instead, if there is one
 * @returns a hook that rejects unknown paths with 404 and unsupported methods with 405 (RFC 9110, section 15.5.6); it
 *   resolves with the reply if it has sent one. Fastify itself would respond with 404 to an unsupported method, or
 *   treat `DELETE /things/all` as a request for the object `all`; a route for each unsupported method would add
 *   thousands.
 */
export function rejectUnknownPaths(
  app: FastifyInstance,
  limit: (request: FastifyRequest, reply: FastifyReply) => Problem | undefined = () => undefined,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined> {
  const knownPaths = new Map<string, KnownPath>();
  const router = findMyWay({ maxParamLength: app.initialConfig.routerOptions?.maxParamLength ?? 100 });
  app.addHook('onRoute', function remember(this: FastifyInstance, { url, method }) {
    let path = knownPaths.get(url);
    if (path === undefined) {
      knownPaths.set(url, (path = { methods: new Set(), scope: this }));
      router.on(ROUTER_METHOD, url, () => undefined, path);
    }
    for (const name of [method].flat()) path.methods.add(name);
    // Fastify adds a path with a slash for a prefix, such as `/docs/`, and passes the hook only its route for HEAD.
    if (path.methods.has('HEAD')) path.methods.add('GET');
  });
  return async (request, reply) => {
    const [pathname = ''] = request.url.split('?', 1);
    const knownPath = router.find(ROUTER_METHOD, pathname)?.store as KnownPath | undefined;
    if (knownPath?.methods.has(request.method) === true) return undefined;
    const limited = limit(request, reply);
    if (knownPath === undefined) throw limited ?? unknownPath(request);
    const problem = limited ?? methodNotAllowed(request.method, [...knownPath.methods].sort().join(', '));
    // All our error handlers are asynchronous, which the type does not say.
    const sent: unknown = knownPath.scope.errorHandler(problem, request, reply);
    await sent;
    return reply;
  };
}

/** @returns the problem of a request to a path that does not exist */
export function unknownPath({ url }: FastifyRequest): Problem {
  const [pathname = ''] = url.split('?', 1);
  return new Problem('not-found', `Nothing exists at ${pathname.slice(0, MAX_PATH_SHOWN)}.`, {
    source: 'path',
  });
}

function methodNotAllowed(method: string, allow: string): Problem {
  return new Problem(
    'method-not-allowed',
    `${method} is not allowed for this path. Allowed methods: ${allow}.`,
    { source: 'method', headers: { allow } },
  );
}
