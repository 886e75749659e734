import { Agent, request } from 'node:http';
import type { Engine } from '../src/db/database.ts';
import type { LargeOrganization } from './large-dataset.ts';
import { median, progress, type BenchmarkResult } from './measure.ts';
import type { Server } from './processes.ts';

const REQUESTS = 60;
const WARM_UP = 10;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

/** A request; a GET without options by default. */
interface RequestSpec {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

interface TimedResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Empty if `readsText` is false. */
  text: string;
  bytes: number;
  lines: number;
  milliseconds: number;
}

/** Sends a request and reads the response to its end. @throws Error for a status other than 2xx and 304 */
export function send(
  server: Pick<Server, 'port'>,
  { token }: Pick<LargeOrganization, 'token'>,
  path: string,
  { method = 'GET', body, headers = {} }: RequestSpec = {},
  readsText = true,
): Promise<TimedResponse> {
  const startedAt = performance.now();
  const content = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: server.port,
        path: encodeURI(path),
        method,
        agent,
        headers: {
          authorization: `Bearer ${token}`,
          ...(content === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        let lines = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (readsText) chunks.push(chunk);
          else
            for (let newline = chunk.indexOf(10); newline >= 0; newline = chunk.indexOf(10, newline + 1))
              lines += 1;
        });
        response.on('error', reject);
        response.on('end', () => {
          const status = response.statusCode ?? 0;
          const text = Buffer.concat(chunks).toString();
          if (status >= 300 && status !== 304)
            reject(new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`));
          else
            resolve({
              status,
              headers: response.headers,
              text,
              bytes,
              lines,
              milliseconds: performance.now() - startedAt,
            });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(content);
  });
}

/** @returns the median time of the request when nothing else runs, in milliseconds */
async function timeOf(
  server: Server,
  organization: LargeOrganization,
  path: string,
  spec: RequestSpec = {},
): Promise<number> {
  const times: number[] = [];
  for (let number = 0; number < WARM_UP + REQUESTS; number += 1) {
    const { milliseconds } = await send(server, organization, path, spec);
    if (number >= WARM_UP) times.push(milliseconds);
  }
  return median(times);
}

const LIST = '/v1/vulnerabilities';

/** Names that can be given on the command line. */
export const COMPANION_WORKLOADS: readonly string[] = [
  'op15-first',
  'op15-status-severity',
  'op15-tag',
  'op15-asset',
  'op15-search',
  'op15-cursor',
  'op16-not-modified',
  'op75-by-vulnerabilities',
  'op80-ports',
  'op83-summary',
];

/** First pages of 50 rows, whose time should not grow with the number of rows: name, and query for an organization. */
const PAGES: readonly (readonly [name: string, query: (organization: LargeOrganization) => string])[] = [
  ['op15-first', () => ''],
  ['op15-status-severity', () => '?filter[status_id][]=2&filter[severity][]=High'],
  ['op15-tag', ({ tag }) => `?filter[tag_id][]=${tag}`],
  ['op15-asset', ({ asset }) => `?filter[asset_uid][]=${asset}`],
];

/** What people search for, by kind. */
const searches = ({
  uid,
  firstVulnerability: number,
}: LargeOrganization): readonly [kind: string, text: string][] => [
  ['words', 'shop 4242'],
  ['hyphens', 'search-form of-shop 4242'],
  ['word of all', 'reflected'],
  ['none', 'absent word'],
  ['two characters', 'zz'],
  ['CVE', 'CVE-2024-4242'],
  ['number', `#${number + 4_242}`],
  ['digits', '17'],
  ['asset', `${uid}-42.exam`],
  ['all assets', '.example'],
];

/**
 * Measures lists of the companion operations on the large organizations.
 * @returns the rows of the report
 */
export async function measureCompanions(
  engine: Engine,
  server: Server,
  { large, small }: { large: LargeOrganization; small: LargeOrganization },
  isSelected: (name: string) => boolean,
): Promise<BenchmarkResult[]> {
  const rows: BenchmarkResult[] = [];
  const row = (workload: string, p50: number, ratio: number, target: string, holds: boolean): void => {
    rows.push({ engine, workload, p50, ratio, target, holds });
  };
  for (const [name, query] of PAGES.filter((page) => isSelected(page[0]))) {
    progress(`${engine}: ${name}`);
    const smallP50 = await timeOf(server, small, LIST + query(small));
    const p50 = await timeOf(server, large, LIST + query(large));
    row(
      name,
      p50,
      p50 / smallP50,
      '<= 1.5 x with 1,000 rows, or <= 10 ms',
      p50 <= 10 || p50 / smallP50 <= 1.5,
    );
  }
  const measureAgainst = async (name: string, path: string, limit: number): Promise<void> => {
    if (!isSelected(name.split(' ')[0] ?? '')) return;
    progress(`${engine}: ${name}`);
    const p50 = await timeOf(server, large, path);
    row(name, p50, p50 / limit, `p50 <= ${limit} ms`, p50 <= limit);
  };
  for (const [name, text] of searches(large))
    await measureAgainst(
      `op15-search (${name})`,
      `${LIST}?page[after]=&filter[search]=${encodeURIComponent(text)}`,
      100,
    );
  await measureAgainst(
    'op75-by-vulnerabilities',
    '/api/asset/v2/assets?sort=vulnerabilityCount&sortDir=desc',
    20,
  );
  await measureAgainst('op80-ports', `/api/streaming/v1/${large.uid}/assets/ports`, 20);
  await measureAgainst('op83-summary', `${LIST}/summary`, 20);

  if (isSelected('op15-cursor')) {
    progress(`${engine}: op15-cursor`);
    const deep = await cursorAt(server, large, 0.9);
    const first = await timeOf(server, large, `${LIST}?page[after]=&page[size]=10`);
    const later = await timeOf(server, large, deep);
    row('op15-cursor-deep', later, later / first, '<= 1.3 x the first page', later / first <= 1.3);
  }
  if (isSelected('op16-not-modified')) {
    progress(`${engine}: op16-not-modified`);
    const path = `${LIST}/${large.firstVulnerability + 5}`;
    const { headers } = await send(server, large, path);
    const full = await timeOf(server, large, path);
    const unchanged = await timeOf(server, large, path, {
      headers: { 'if-none-match': String(headers['etag']) },
    });
    row(
      'op16-not-modified',
      unchanged,
      full / unchanged,
      '>= 0.9 of the speed of 16',
      full / unchanged >= 0.9,
    );
  }
  return rows;
}

/** @returns the path of a page deep in the list, whose cursor is found by reading pages of the maximum size */
export async function cursorAt(
  server: Pick<Server, 'port'>,
  organization: Pick<LargeOrganization, 'token' | 'vulnerabilities'>,
  share: number,
): Promise<string> {
  let path = `${LIST}?page[after]=&page[size]=200&fields=id`;
  for (let read = 0; read < organization.vulnerabilities * share; read += 200) {
    const { headers } = await send(server, organization, path);
    const next = /<([^>]+)>; rel="next"/.exec(String(headers['link']))?.[1];
    if (next === undefined) throw new Error('The list ended too early.');
    const { pathname, search } = new URL(next);
    path = decodeURI(pathname + search)
      .replaceAll('%5B', '[')
      .replaceAll('%5D', ']');
  }
  return path.replace('page[size]=200', 'page[size]=10').replace('&fields=id', '');
}
