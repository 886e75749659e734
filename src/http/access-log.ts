import type { FastifyInstance } from 'fastify';
import { networkPrefix } from '../auth/ip-addresses.ts';
import type { Context } from '../context.ts';
import { LogThrottle } from './log-throttle.ts';

const MAX_PATH = 512;
const REPEAT_MILLISECONDS = 60_000;

/**
 * Logs each request when it ends, with at most 512 characters of its path. Requests that the rate limit does not bound,
 * which are 429 responses and routes without a limit, are logged once per minute for each address, with a count.
 */
export function logRequests(app: FastifyInstance, { log }: Context): void {
  const throttle = new LogThrottle(REPEAT_MILLISECONDS, (last, count) =>
    log.info({ ...last, count }, 'repeated requests'),
  );
  app.addHook('onResponse', async (request, reply) => {
    const { statusCode: status } = reply;
    const operation = request.routeOptions.config?.operation;
    const isUnlimited = request.routeOptions.config?.access === 'unlimited';
    if (status === 429 || isUnlimited) {
      const address = networkPrefix(request.address);
      const fields = isUnlimited ? { operation, status, address } : { status, address };
      if (!throttle.isFirst(Object.values(fields).join(' '), fields)) return;
    }
    const [path = ''] = request.url.split('?', 1);
    log.info(
      {
        requestId: request.id,
        operation,
        method: request.method,
        path: path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path,
        status,
        milliseconds: Math.round(reply.elapsedTime * 100) / 100,
        address: request.address,
        user: request.caller?.uid ?? request.session?.uid,
      },
      'request',
    );
  });
  app.addHook('onClose', async () => throttle.flush());
}
