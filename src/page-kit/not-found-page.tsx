import { distance } from 'fastest-levenshtein';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { PROBLEM_TYPES } from '../http/problem-types.ts';
import type { Problem } from '../http/problems.ts';
import { ErrorPage } from './error-page.tsx';
import { NOT_FOUND_MESSAGES } from './messages.ts';
import { sendHtmlPage, sendPublicPage } from './pages-plugin.tsx';
import { CONSOLE_PATHS } from './paths.ts';

/**
 * Sends a page to a browser whose request has reached no route. Other clients get JSON.
 * @returns undefined if it has sent none
 */
export function sendUnknownPage(
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
): FastifyReply | undefined {
  const formats = new Negotiator(request.raw).mediaTypes(['application/json', 'text/html']);
  if (formats[0] !== 'text/html' || !['GET', 'HEAD'].includes(request.method)) return undefined;
  const { type, status, message } = problem;
  reply.headers(problem.details.headers ?? {});
  const page =
    type === 'not-found' ? (
      <NotFoundPage request={request} />
    ) : (
      <ErrorPage title={PROBLEM_TYPES[type].title} message={message} requestId={request.id} />
    );
  return sendPublicPage(reply, page, status);
}

/** Sends the page of an unknown path below those of the account, in the frame of a signed-in user. */
export const sendNotFoundPage = (request: FastifyRequest, reply: FastifyReply, { status }: Problem) =>
  sendHtmlPage(request, reply, <NotFoundPage request={request} />, { status });

/** The page of an unknown path, with links to the main pages and to the one with the most similar path. */
function NotFoundPage({ request }: { request: FastifyRequest }) {
  const [unknownPath = ''] = request.url.split('?', 1);
  const message = NOT_FOUND_MESSAGES.nothingAt(unknownPath.slice(0, MAX_PATH_SHOWN));
  const similar = similarPath(request.url);
  return (
    <ErrorPage title={PROBLEM_TYPES['not-found'].title} message={message} requestId={request.id}>
      {similar !== undefined && (
        <p>
          {NOT_FOUND_MESSAGES.didYouMean} <a href={similar}>{similar}</a>?
        </p>
      )}
      <p>{NOT_FOUND_MESSAGES.mainPages}</p>
      <ul class="bullets">
        {Object.entries(NOT_FOUND_MESSAGES.pages).map(([path, name]) => (
          <li key={path}>
            <a href={path}>{name}</a>
          </li>
        ))}
      </ul>
    </ErrorPage>
  );
}

/** Characters. */
const MAX_PATH_SHOWN = 200;

/** The paths of the pages that anyone may open or sign in to. */
export const PAGE_PATHS: readonly string[] = [
  ...CONSOLE_PATHS.map((path) => `/${path}`),
  '/account',
  '/account/applications',
  '/account/password',
  '/account/security',
  '/account/sessions',
  '/account/tokens',
  '/docs',
  '/problems',
  '/sign-in',
];

/** Characters. Bounds the work per request; no page has a longer path. */
const MAX_COMPARED = 40;
/** Changed characters, absolute and per character, up to which paths are similar. */
const MAX_DISTANCE = 3;
const MAX_DISTANCE_RATIO = 0.4;

/** @returns the path of the page with a similar path, or last segment; undefined if there is none */
function similarPath(url: string): string | undefined {
  const [path = ''] = url.toLowerCase().split('?', 1);
  const trimmed = path.slice(0, MAX_COMPARED).replace(/\/$/, '');
  // Objects have their pages below those of lists.
  const [, list = ''] = trimmed.split('/', 2);
  return mostSimilarPage(trimmed) ?? mostSimilarPage(`/${list}`);
}

function mostSimilarPage(path: string): string | undefined {
  let limit = MAX_DISTANCE;
  let similar: string | undefined;
  for (const page of PAGE_PATHS)
    for (const name of [page, page.slice(page.lastIndexOf('/'))]) {
      const changed = distance(name, path);
      if (changed > limit || changed > name.length * MAX_DISTANCE_RATIO) continue;
      limit = changed - 1;
      similar = page;
    }
  return similar;
}
