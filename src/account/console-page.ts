import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../domain/shared/errors.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { Problem } from '../http/problems.ts';
import { CONSOLE_PATHS, signInPath } from '../page-kit/paths.ts';
import { DIST } from '../paths.ts';
import { contentSecurityPolicy, formToken } from '../page-kit/pages-plugin.tsx';

/** The build output of the console: its page, and its assets in `files`. */
const FOLDER = fileURLToPath(new URL('console', DIST));

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const FORM_TOKEN = '%FORM_TOKEN%';

/** Attachments, which the console loads with its token. */
const PICTURES = 'blob:';

interface BuiltFile {
  type: string;
  content: Buffer;
  /** Brotli (RFC 7932); absent for fonts, whose format is compressed. */
  compressed: Buffer | undefined;
}

/**
 * Serves the console: one page for all its paths, for signed-in users. It reads its data from the API with a token
 * that it gets as an OAuth client of this server (`CONSOLE_CLIENT`).
 */
export const registerConsole: RouteRegistrar = (app) => {
  const page = existsSync(join(FOLDER, 'index.html'))
    ? readFileSync(join(FOLDER, 'index.html'), 'utf8')
    : undefined;
  const files = page === undefined ? new Map<string, BuiltFile>() : readFiles(join(FOLDER, 'files'));
  const show = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (request.session?.state !== 'complete') return reply.redirect(signInPath(request.url), 303);
    if (page === undefined)
      throw new Problem('unavailable', 'The console is not built. Run "npm run build", and start again.');
    return reply
      .header('content-security-policy', contentSecurityPolicy([], PICTURES))
      .type('text/html; charset=utf-8')
      .send(page.replace(FORM_TOKEN, formToken(request, reply)));
  };
  const options = { config: { operation: 'console-page', access: 'open' }, schema: { hide: true } } as const;
  app.get('/', options, show);
  for (const path of CONSOLE_PATHS) {
    app.get(`/${path}`, options, show);
    app.get(`/${path}/*`, options, show);
  }

  // The redirect target of the console's authorization request. The console reads its URL; the page is empty.
  app.get(
    '/signed-in',
    { config: { operation: 'console-signed-in', access: 'open' }, schema: { hide: true } },
    async (_request, reply) => reply.code(204).send(),
  );

  app.get<{ Params: { name: string } }>(
    '/console/files/:name',
    { config: { operation: 'console-file', access: 'open' }, schema: { hide: true } },
    async (request, reply) => {
      const file = files.get(request.params.name);
      if (file === undefined) throw notFound('file');
      const packed = /\bbr\b/.test(request.headers['accept-encoding'] ?? '') ? file.compressed : undefined;
      if (packed !== undefined) reply.header('content-encoding', 'br');
      return (
        reply
          .header('vary', 'accept-encoding')
          // The name contains a digest of the content, or the version of the font.
          .header('cache-control', 'public, max-age=31536000, immutable')
          .type(file.type)
          .send(packed ?? file.content)
      );
    },
  );
};

function readFiles(folder: string): Map<string, BuiltFile> {
  const files = new Map<string, BuiltFile>();
  for (const name of readdirSync(folder)) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const path = join(folder, name);
    files.set(name, {
      type,
      content: readFileSync(path),
      compressed: existsSync(`${path}.br`) ? readFileSync(`${path}.br`) : undefined,
    });
  }
  return files;
}
