import type { FastifyInstance } from 'fastify';
import type { Context } from '../runtime/context.ts';
import { AREAS, SERVER_AREA } from './areas.ts';
import { type ProblemType, PROBLEM_TYPES, type ProblemTypeName } from './problem-types.ts';
import { Problem } from './problems.ts';

/** Registers the routes outside the areas: health, readiness, public keys and problem types. */
export function registerServerRoutes(app: FastifyInstance, { addresses, clock, db, keys }: Context): void {
  const hidden = { schema: { hide: true } } as const;

  app.get('/healthz', { config: { operation: 'healthz', access: 'unlimited' }, ...hidden }, async () => ({
    status: 'ok',
  }));

  app.get('/readyz', { config: { operation: 'readyz', access: 'unlimited' }, ...hidden }, async () => {
    await db.check(clock());
    return { status: 'ready' };
  });

  app.get(
    '/.well-known/jwks.json',
    { config: { operation: 'jwks', access: 'open' }, ...hidden },
    async (_request, reply) =>
      reply
        .headers({ 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' })
        .send(await keys.jwks()),
  );

  app.get(
    '/problems',
    { config: { operation: 'problems', access: 'open' }, ...hidden },
    async (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=300')
        .type('text/plain; charset=utf-8')
        .send(listProblemTypes(addresses.errorTypeBase)),
  );

  app.get<{ Params: { area: string; kind: string } }>(
    '/problems/:area/:kind',
    { config: { operation: 'problem', access: 'open' }, ...hidden },
    async ({ params: { area, kind } }, reply) => {
      const text = explainProblemType(area, kind);
      if (text === undefined) throw new Problem('not-found', `There is no problem type ${area}/${kind}.`);
      return reply
        .header('cache-control', 'public, max-age=300')
        .type('text/plain; charset=utf-8')
        .send(text);
    },
  );
}

/** Lists every problem type by area, with its URL. */
function listProblemTypes(errorTypeBase: string): string {
  const sections = [...Object.values(AREAS), SERVER_AREA].map((area) => {
    const kinds = Object.entries(PROBLEM_TYPES).filter(
      ([kind]) => explainProblemType(area.name, kind) !== undefined,
    );
    const lines = kinds.map(
      ([kind, { status, title }]) => `${status}  ${title}\n     ${errorTypeBase}/${area.name}/${kind}`,
    );
    return `${area.title}\n\n${lines.join('\n')}\n`;
  });
  return `Problem types. Each URL explains its own.\n\n${sections.join('\n')}`;
}

/** Explains a problem type in plain text. */
function explainProblemType(areaName: string, kind: string): string | undefined {
  const area = [...Object.values(AREAS), SERVER_AREA].find(({ name }) => name === areaName);
  if (area === undefined || !Object.hasOwn(PROBLEM_TYPES, kind)) return undefined;
  const {
    status,
    title,
    meaning,
    onlyArea = area.name,
  }: ProblemType = PROBLEM_TYPES[kind as ProblemTypeName];
  // Some areas do not have this type, or have it under another name.
  if (onlyArea !== area.name || area.problemTypes?.[kind as ProblemTypeName] !== undefined) return undefined;
  return `${title} (${status})\n\n${meaning}\n`;
}
