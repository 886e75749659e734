import type { FastifyRequest } from 'fastify';

/**
 * @returns whether a browser says that a page of another origin had it send this (Fetch Metadata Request Headers, section
 *   2.3); those that say nothing are old, or no browsers
 */
export function isCrossSite({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}
