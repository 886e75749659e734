import type { FastifyRequest } from 'fastify';

/**
 * Whether the browser says that another origin sent the request (Fetch Metadata Request Headers, section 2.3). Old
 * browsers and other clients say nothing.
 */
export function isCrossOrigin({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}
