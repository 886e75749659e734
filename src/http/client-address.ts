import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AddressSet, parseAddress } from '../auth/ip-addresses.ts';

/** The address of a client that is not known: its socket has closed, or a trusted proxy did not name it. */
export const UNKNOWN_ADDRESS = '0.0.0.0';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * IP address of the client, as far as the proxies in between are trusted; without a port. See `UNKNOWN_ADDRESS`.
     */
    address: string;
  }
}

/**
 * Sets `request.address` first of all, as rate limits, locks, allow lists, logs and the audit log use it.
 * @param readAddress see `clientAddressReader`
 */
export function setClientAddress(
  app: FastifyInstance,
  readAddress: (request: FastifyRequest) => string,
): void {
  app.decorateRequest('address', '');
  app.addHook('onRequest', (request, _reply, done) => {
    request.address = readAddress(request);
    done();
  });
}

/**
 * @param trustedProxies addresses and CIDR blocks whose `X-Forwarded-For` is trusted
 * @returns a function that finds the address of a request's client
 */
export function clientAddressReader(trustedProxies: readonly string[]): (request: FastifyRequest) => string {
  const trusted = trustedProxies.length === 0 ? undefined : new AddressSet(trustedProxies);
  return (request) => resolveClientAddress(request, trusted);
}

/**
 * Reads `X-Forwarded-For` backwards, as each proxy appends its client, up to the first untrusted address. The address
 * is unknown if a trusted proxy names none (no header, `unknown`, a name): clients must not get what only the proxy
 * may.
 */
function resolveClientAddress({ raw, headers }: FastifyRequest, trusted: AddressSet | undefined): string {
  let address = parseAddress(raw.socket.remoteAddress ?? '') ?? UNKNOWN_ADDRESS;
  if (trusted === undefined || !trusted.has(address)) return address;
  for (const text of String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .toReversed()) {
    const before = parseAddress(text.trim());
    if (before === undefined) return UNKNOWN_ADDRESS;
    address = before;
    if (!trusted.has(address)) return address;
  }
  return address;
}
