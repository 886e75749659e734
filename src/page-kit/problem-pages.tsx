import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { Fragment, type VNode } from 'preact';
import { type Area, AREAS, SERVER_AREA } from '../http/areas.ts';
import { type ProblemType, PROBLEM_TYPES, type ProblemTypeName } from '../http/problem-types.ts';
import { Problem } from '../http/problems.ts';
import type { Context } from '../context.ts';
import { ErrorPage } from './error-page.tsx';
import { Page } from './layout.tsx';
import { PROBLEM_MESSAGES } from './messages.ts';
import { sendPublicPage } from './pages-plugin.tsx';

interface DescribedType {
  path: string;
  /** The `type` of the problems (RFC 9457). */
  type: string;
  status: number;
  title: string;
  meaning: string;
}

/** The formats of a response. The first is for clients that accept anything. */
interface Formats {
  text: string;
  json: unknown;
  page: VNode;
}

/**
 * Registers the descriptions of problem types, to which the `type` of every problem leads: as plain text, as JSON, and
 * as pages for browsers.
 */
export function registerProblemPages(app: FastifyInstance, { addresses }: Context): void {
  // Called for each request, as the addresses are complete once the server listens.
  const describeAreas = () =>
    [...Object.values(AREAS), SERVER_AREA].map((area) => ({
      ...area,
      types: describeTypes(area, addresses.errorTypeBase),
    }));

  app.get(
    '/problems',
    { config: { operation: 'problems', access: 'open' }, schema: { hide: true } },
    async (request, reply) => {
      const areas = describeAreas();
      const sections = areas.map(({ title, types }) => `${title}\n\n${types.map(listLines).join('')}`);
      return sendNegotiated(request, reply, {
        text: `${PROBLEM_MESSAGES.problemTypes.introduction}\n\n${sections.join('\n')}`,
        json: areas.flatMap(({ types }) => types.map(toJson)),
        page: (
          <Page title={PROBLEM_MESSAGES.problemTypes.title} isWide>
            <p>{PROBLEM_MESSAGES.problemTypes.introduction}</p>
            {areas.map(({ name, title, types }) => (
              <section key={name} class="stack">
                <h2>{title}</h2>
                <dl>
                  {types.map((described) => (
                    <Fragment key={described.path}>
                      <dt>{described.status}</dt>
                      <dd>
                        <a href={described.path}>{described.title}</a>
                      </dd>
                    </Fragment>
                  ))}
                </dl>
              </section>
            ))}
          </Page>
        ),
      });
    },
  );

  app.get<{ Params: { area: string; kind: string } }>(
    '/problems/:area/:kind',
    { config: { operation: 'problem', access: 'open' }, schema: { hide: true } },
    async (request, reply) => {
      const { area: name, kind } = request.params;
      const area = describeAreas().find((candidate) => candidate.name === name);
      const problemType = area?.types.find(({ path }) => path === problemPath(name, kind));
      if (area === undefined || problemType === undefined) {
        const problem = new Problem('not-found', PROBLEM_MESSAGES.problemTypes.unknown(`${name}/${kind}`));
        if (formatFor(request) !== 'page') throw problem;
        const { title } = PROBLEM_TYPES[problem.type];
        const page = <ErrorPage title={title} message={problem.message} requestId={request.id} />;
        return sendPublicPage(reply, page, problem.status);
      }
      const { title, status, meaning } = problemType;
      return sendNegotiated(request, reply, {
        text: `${title} (${status})\n\n${meaning}\n`,
        json: toJson(problemType),
        page: (
          <Page title={title}>
            <p>{PROBLEM_MESSAGES.problemTypes.statusIn(status, area.title)}</p>
            <p>{meaning}</p>
            <p>
              <a href="/problems">{PROBLEM_MESSAGES.problemTypes.all}</a>
            </p>
          </Page>
        ),
      });
    },
  );
}

const problemPath = (area: string, kind: string): string => `/problems/${area}/${kind}`;

const toJson = ({ type, status, title, meaning }: DescribedType) => ({ type, status, title, meaning });

/** @param base the base URL of the types */
function describeTypes(area: Area, base: string): DescribedType[] {
  return Object.entries<ProblemType>(PROBLEM_TYPES).flatMap(
    ([kind, { status, title, meaning, onlyArea = area.name }]) =>
      // Some areas do not have a type, or have it under another name.
      onlyArea !== area.name || area.problemTypes?.[kind as ProblemTypeName] !== undefined
        ? []
        : [
            {
              path: problemPath(area.name, kind),
              type: `${base}/${area.name}/${kind}`,
              status,
              title,
              meaning,
            },
          ],
  );
}

const listLines = ({ status, title, type }: DescribedType): string => `${status}  ${title}\n     ${type}\n`;

const MEDIA_TYPES: Readonly<Record<string, keyof Formats>> = {
  'text/plain': 'text',
  'text/html': 'page',
  'application/json': 'json',
};

/** @returns the format that the client prefers; text if it accepts none of them */
function formatFor({ raw }: FastifyRequest): keyof Formats {
  const [preferred = ''] = new Negotiator(raw).mediaTypes(Object.keys(MEDIA_TYPES));
  return MEDIA_TYPES[preferred] ?? 'text';
}

function sendNegotiated(request: FastifyRequest, reply: FastifyReply, formats: Formats): FastifyReply {
  reply.headers({ vary: 'accept', 'cache-control': 'public, max-age=300' });
  const format = formatFor(request);
  if (format === 'page') return sendPublicPage(reply, formats.page);
  if (format === 'json') return reply.send(formats.json);
  return reply.type('text/plain; charset=utf-8').send(formats.text);
}
