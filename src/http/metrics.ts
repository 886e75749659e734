import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { AddressSet } from '../auth/ip-addresses.ts';
import type { Config } from '../config/config.ts';
import type { Context } from '../context.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import { UNKNOWN_ADDRESS } from './client-address.ts';
import { Problem } from './problems.ts';
import type { TokenCache } from '../domain/tokens/token-cache.ts';

const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Collects metrics and serves them at `/metrics` in the Prometheus text format. */
export function registerMetrics(
  app: FastifyInstance,
  { config, db }: Context,
  tokens: TokenCache,
  connections: ConnectionLimits,
): void {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'assay_requests_total',
    help: 'Completed requests by operation and status.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const latencies = new Histogram({
    name: 'assay_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response, by operation.',
    labelNames: ['operation'],
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const addCounter = (name: string, help: string, read: () => number): void => {
    const counter: Counter = new Counter({
      name,
      help,
      registers,
      collect() {
        counter.reset();
        counter.inc(read());
      },
    });
  };
  const addGauge = (name: string, help: string, read: () => number): void => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers,
      collect() {
        gauge.set(read());
      },
    });
  };
  addCounter('assay_commits_total', 'Durable commits.', () => db.statistics().commits);
  addCounter('assay_transactions_total', 'Transactions committed.', () => db.statistics().transactions);
  addGauge('assay_transactions_per_commit', 'Average number of transactions per commit.', () => {
    const { commits, transactions } = db.statistics();
    return commits === 0 ? 0 : transactions / commits;
  });
  addGauge('assay_pool_connections', 'Open database connections.', () => db.statistics().connections);
  addGauge(
    'assay_pool_waiting',
    'Operations waiting for a database connection.',
    () => db.statistics().waiting,
  );
  addCounter('assay_tokens_cached_total', 'Tokens verified from the cache.', () => tokens.statistics().hits);
  addCounter(
    'assay_tokens_checked_total',
    'Tokens verified against the database.',
    () => tokens.statistics().misses,
  );
  addCounter('assay_connections_closed_total', 'Connections closed by a limit of connections.', () =>
    connections.closed(),
  );

  app.addHook('onResponse', async (request: FastifyRequest, reply: FastifyReply) => {
    const operation = request.routeOptions.config?.operation ?? 'unknown-path';
    requests.inc({ operation, status: reply.statusCode });
    latencies.observe({ operation }, reply.elapsedTime / 1000);
  });

  const allowed = new AddressSet(config.metricsAllowed);
  app.get(
    '/metrics',
    { config: { operation: 'metrics', access: 'unlimited' }, schema: { hide: true } },
    async (request, reply) => {
      const { address } = request;
      if (address === UNKNOWN_ADDRESS)
        throw new Problem(
          'forbidden',
          'Metrics are not available, as the proxy did not send the IP address of the client. Let it add the address to X-Forwarded-For.',
        );
      if (isBehindUnknownProxy(request, config))
        throw new Problem(
          'forbidden',
          'Metrics are not available through an unknown proxy. Add its address to ASSAY_TRUSTED_PROXIES.',
        );
      if (!allowed.has(address))
        throw new Problem(
          'forbidden',
          'Metrics are not available to this IP address. Add it to ASSAY_METRICS_ALLOWED.',
        );
      return reply.type(registry.contentType).send(await registry.metrics());
    },
  );
}

/** Behind an unconfigured proxy, every client has the address of the proxy. */
function isBehindUnknownProxy({ headers }: FastifyRequest, { trustedProxies }: Config): boolean {
  return trustedProxies.length === 0 && (headers['x-forwarded-for'] ?? headers['forwarded']) !== undefined;
}
