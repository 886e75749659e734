import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { ROOT } from '../paths.ts';

const FOLDER = new URL('assets/', ROOT);

const TYPES = {
  'tokens.css': 'text/css; charset=utf-8',
  'assay.css': 'text/css; charset=utf-8',
  'assay.svg': 'image/svg+xml',
  'scheme.js': 'text/javascript; charset=utf-8',
  'copy.js': 'text/javascript; charset=utf-8',
  'clean-address.js': 'text/javascript; charset=utf-8',
  'passkeys.js': 'text/javascript; charset=utf-8',
} as const;

/** Serves the stylesheet, the icon and the scripts of pages. Pages also work without scripts. */
export function registerStaticFiles(app: FastifyInstance): void {
  for (const [name, type] of Object.entries(TYPES)) {
    const content = readFileSync(new URL(name, FOLDER));
    const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
    app.get(
      `/assets/${name}`,
      { config: { operation: 'asset-file', access: 'open' }, schema: { hide: true } },
      async (request, reply) => {
        // Revalidated at every page, because the name does not change between versions.
        reply.header('cache-control', 'no-cache').header('etag', etag);
        if (request.headers['if-none-match'] === etag) return reply.code(304).send();
        return reply.type(type).send(content);
      },
    );
  }
}
