import { readFileSync } from 'node:fs';
import type { DropArgument, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { AddressSet, networkPrefix, parseAddress } from '../auth/ip-addresses.ts';
import type { Context } from '../context.ts';
import { UNKNOWN_ADDRESS } from './client-address.ts';
import { LogThrottle } from './log-throttle.ts';

/** Time for the first byte of a connection, in ms. Later ones have the timeouts of headers, requests and keep-alive. */
const FIRST_BYTE_MILLISECONDS = 10_000;
const SWEEP_MILLISECONDS = 1_000;
const LOG_MILLISECONDS = 60_000;
/** Descriptors that a process needs besides its connections: database, attachments, imports, log. */
const MIN_RESERVE = 64;
const FEW_FILES = 1_024;

type Reason = 'silent' | 'connections of the address' | 'connections of the process';

export interface ConnectionLimits {
  /** @returns how many connections were closed for a limit so far */
  closed(): number;
  /** Closes the connections that have sent nothing yet, which Node does not count as idle. */
  closeSilent(): void;
}

/**
 * Closes a connection that sends nothing for 10 seconds, that exceeds `maxConnectionsPerAddress`, or that exceeds the
 * limit of open files. IPv6 addresses are counted by network of 64 bits; connections of trusted proxies are not
 * counted. Closed connections are logged once a minute for each address and reason.
 */
export function limitConnections(app: FastifyInstance, { config, log }: Context): ConnectionLimits {
  const trusted = new AddressSet(config.trustedProxies);
  const perAddress = new Map<string, number>();
  /** Connections that may not have sent a byte yet, with the time at which they opened, oldest first. */
  const silent = new Map<Socket, number>();
  let closed = 0;
  const throttle = new LogThrottle(LOG_MILLISECONDS, (last, count) =>
    log.warn({ ...last, count }, 'connections closed'),
  );
  const record = (reason: Reason, address: string): void => {
    closed += 1;
    const fields = { reason, address };
    if (throttle.isFirst(`${reason} ${address}`, fields))
      log.warn({ ...fields, count: 1 }, 'connections closed');
  };

  app.server.on('connection', (socket: Socket) => {
    const address = parseAddress(socket.remoteAddress ?? '');
    // It has ended already.
    if (address === undefined) {
      socket.destroy();
      return;
    }
    if (!trusted.has(address)) {
      const key = networkPrefix(address);
      const count = perAddress.get(key) ?? 0;
      if (count >= config.maxConnectionsPerAddress) {
        socket.destroy();
        record('connections of the address', key);
        return;
      }
      perAddress.set(key, count + 1);
      socket.once('close', () => {
        const remaining = (perAddress.get(key) ?? 1) - 1;
        if (remaining === 0) perAddress.delete(key);
        else perAddress.set(key, remaining);
      });
    }
    silent.set(socket, performance.now());
    socket.once('close', () => silent.delete(socket));
  });
  const sweep = setInterval(() => {
    const latest = performance.now() - FIRST_BYTE_MILLISECONDS;
    for (const [socket, since] of silent) {
      if (since > latest) break;
      silent.delete(socket);
      if (socket.bytesRead > 0) continue;
      record('silent', networkPrefix(socket.remoteAddress ?? UNKNOWN_ADDRESS));
      socket.destroy();
    }
  }, SWEEP_MILLISECONDS).unref();

  const files = readOpenFileLimit();
  const max = maxConnections(files);
  if (Number.isFinite(max)) app.server.maxConnections = max;
  app.server.on('drop', (dropped?: DropArgument) =>
    record('connections of the process', networkPrefix(dropped?.remoteAddress ?? UNKNOWN_ADDRESS)),
  );
  app.server.once('listening', () => {
    if (files < FEW_FILES)
      log.warn({ openFiles: files, maxConnections: max }, 'the limit of open files is low (ulimit -n)');
  });
  app.addHook('onClose', async () => {
    clearInterval(sweep);
    throttle.flush();
  });
  return {
    closed: () => closed,
    closeSilent() {
      for (const socket of silent.keys()) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

/**
 * Leaves a quarter of the open files, but at least 64, to everything but connections.
 * @param openFiles the limit of the process; may be infinite
 */
export function maxConnections(openFiles: number): number {
  return Math.max(1, Math.min(openFiles - MIN_RESERVE, Math.floor(openFiles * 0.75)));
}

/**
 * @returns the soft limit of open files in a text like `/proc/self/limits` (proc_pid_limits(5)); infinite if it has
 *   none
 */
export function parseOpenFileLimit(limits: string): number {
  const soft = /^Max open files +(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Systems other than Linux lack the file, and are not limited. */
function readOpenFileLimit(): number {
  try {
    return parseOpenFileLimit(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
