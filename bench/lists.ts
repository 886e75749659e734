import type { Engine } from '../src/db/database.ts';
import { send } from './companions.ts';
import { filtersOf } from './lists-filters.ts';
import { copyListsStore, type ListsStore, openListsStore, startOn } from './lists-store.ts';
import { LIST_WRITE_WORKLOADS, measureListWrites } from './lists-writes.ts';
import { type BenchmarkResult, median, progress } from './measure.ts';
import type { Server } from './processes.ts';

const LIST = '/v1/vulnerabilities';
const SORTS = ['resolved_at', 'updated_at', 'severity', 'cvss_score', 'status_id', 'title', 'due_on'];
const ORDERS = SORTS.flatMap((sort) => [sort, `-${sort}`]);
const BY_CURSOR = 'page[after]=';
/** Repetitions of each request, after one that is not measured. */
const REPEATS = 5;
const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 400);
const WORST = 10;
/** Draws pairs of filters in an order without a pattern. */
const PRIME = 7_919;

const READING: readonly string[] = [
  'lists-orders',
  'lists-filters',
  'lists-pairs',
  'lists-totals',
  'lists-last',
  'lists-staff',
  'lists-search',
  'lists-summary',
];

/** Names that can be given on the command line. */
export const LIST_WORKLOADS: readonly string[] = [...READING, ...LIST_WRITE_WORKLOADS];

interface FilterCase {
  /** The filter's name: two cases of one filter are no pair. */
  name: string;
  query: string;
  matches: number;
}

/** Filters that counters have. */
const COUNTED = [
  '',
  'filter[status_id][]=1',
  'filter[severity][]=High',
  'filter[source][]=zap',
  'filter[source][]=zap&filter[phase][]=open&filter[severity][]=High',
  'filter[assessment_id][]=large-0',
  'filter[assessment_id][]=large-0&filter[source][]=manual',
];

/** Filters whose totals no counter has. */
const TOTALS = [
  'filter[search]=reflected',
  'filter[gone]=true',
  'filter[due_until]=2026-06-01',
  'filter[status_id][]=1&filter[retest][]=verified',
  'filter[updated_since]=2026-06-01T00:00:00',
];

/** Lists by number: name, path, and rows on a page. */
const NUMBERED: readonly (readonly [name: string, path: string, size: number])[] = [
  ...ORDERS.map((order) => [`15 ${order}`, `${LIST}?sort=${order}&page[size]=50`, 50] as const),
  ['75', '/api/asset/v2/assets?perPage=100', 100],
  ['36', '/v1/assessments?page[size]=10', 10],
];

const query = (...parts: string[]) => `${LIST}?${parts.filter((part) => part !== '').join('&')}`;
const filterQuery = (name: string, value: string) => `filter[${name}]=${value}`;

/** Sends requests to one server as its readers. */
class Probe {
  readonly #server: Server;
  readonly #tokens: ListsStore['tokens'];

  constructor(server: Server, tokens: ListsStore['tokens']) {
    this.#server = server;
    this.#tokens = tokens;
  }

  get(path: string, reader: keyof ListsStore['tokens'] = 'large') {
    return send(this.#server, { token: this.#tokens[reader] }, path);
  }

  /** @returns the median time of a request in milliseconds */
  async time(path: string, reader: keyof ListsStore['tokens'] = 'large', repeats = REPEATS): Promise<number> {
    const times: number[] = [];
    for (let number = 0; number <= repeats; number += 1) {
      const { milliseconds } = await this.get(path, reader);
      if (number > 0) times.push(milliseconds);
    }
    return median(times);
  }

  async total(path: string): Promise<number> {
    const { headers } = await this.get(path);
    const pagination = headers['x-pagination'];
    return pagination === undefined
      ? Number(headers['pagination-total-count'])
      : (JSON.parse(String(pagination)) as { total_entries: number }).total_entries;
  }
}

/** Measures the lists of an organization of a million vulnerabilities, and changes on a copy of it. */
export async function measureLists(
  engine: Engine,
  isSelected: (name: string) => boolean,
): Promise<BenchmarkResult[]> {
  const store = await openListsStore(engine);
  try {
    const rows = READING.some(isSelected) ? await measureReading(engine, store, isSelected) : [];
    if (!LIST_WRITE_WORKLOADS.some(isSelected)) return rows;
    progress(`${engine}: copying the data`);
    const copy = await copyListsStore(store);
    try {
      return [...rows, ...(await measureListWrites(engine, copy, isSelected))];
    } finally {
      await copy.stop();
    }
  } finally {
    await store.stop();
  }
}

/** Measures pages of the largest organization and of staff. */
export async function measureReading(
  engine: Engine,
  store: ListsStore,
  isSelected: (name: string) => boolean,
): Promise<BenchmarkResult[]> {
  const server = await startOn(store);
  const rows: BenchmarkResult[] = [];
  const report = (workload: string, times: readonly Timed[], limit: number): void => {
    const sorted = times.toSorted((one, other) => other.time - one.time);
    const worst = sorted[0]?.time ?? 0;
    rows.push({
      engine,
      workload,
      p50: median(times.map(({ time }) => time)),
      p99: worst,
      ratio: worst / limit,
      target: `each <= ${limit} ms`,
      holds: worst <= limit,
    });
    for (const { time, name, matches } of sorted.slice(0, WORST))
      progress(`  ${time.toFixed(1)} ms  ${name}${matches === undefined ? '' : ` (${matches} rows)`}`);
  };
  const probe = new Probe(server, store.tokens);
  const timeAll = async (requests: readonly { name: string; path: string; matches?: number }[]) => {
    const times: Timed[] = [];
    for (const { name, path, matches } of requests)
      times.push({ name, matches, time: await probe.time(path) });
    return times;
  };
  try {
    if (isSelected('lists-orders')) {
      progress(`${engine}: every order`);
      const orders = ORDERS.map((order) => ({ name: order, path: query(BY_CURSOR, `sort=${order}`) }));
      report('lists-orders', await timeAll(orders), 10);
    }
    const measure = async (workload: string, requests: Parameters<typeof timeAll>[0], limit: number) => {
      if (!isSelected(workload)) return;
      progress(`${engine}: ${workload}`);
      report(workload, await timeAll(requests), limit);
    };
    await measure(
      'lists-totals',
      COUNTED.map((part) => ({ name: part, path: query(part) })),
      15,
    );
    await measure(
      'lists-totals (others)',
      TOTALS.map((part) => ({ name: part, path: query(part) })),
      engine === 'sqlite' ? 300 : 150,
    );
    if (isSelected('lists-last')) {
      progress(`${engine}: last pages by number`);
      for (const [name, path, size] of NUMBERED) {
        const pages = Math.ceil((await probe.total(path)) / size);
        const first = await probe.time(path);
        const last = await probe.time(
          `${path}&${path.includes('page[size]') ? 'page[number]' : 'page'}=${pages}`,
        );
        progress(`  ${name}: ${first.toFixed(1)} and ${last.toFixed(1)} ms of ${pages} pages`);
        rows.push({
          engine,
          workload: `lists-last (${name})`,
          p50: last,
          ratio: last / first,
          target: '<= 2 x the first',
          holds: last <= 2 * first,
        });
      }
      const middle = ORDERS.map((order) => ({
        name: order,
        path: query('page[number]=10000', `sort=${order}`),
      }));
      report('lists-middle', await timeAll(middle), 500);
    }
    for (const reader of ['assigned', 'staff'] as const)
      if (isSelected('lists-staff')) {
        progress(`${engine}: every order as ${reader}`);
        const times: Timed[] = [];
        for (const order of ORDERS)
          times.push({ name: order, time: await probe.time(query(BY_CURSOR, `sort=${order}`), reader) });
        report(`lists-staff (${reader})`, times, reader === 'staff' ? 150 : 50);
      }
    await measure(
      'lists-search',
      ['page4242', 'parameter', 'shop', 'q42 page', 'absent word', 'CVE-2024-1042', '.example', 'zz'].map(
        (text) => ({
          name: text,
          path: query(BY_CURSOR, `filter[search]=${text}`),
        }),
      ),
      30,
    );
    await measure(
      'lists-summary',
      COUNTED.map((part) => ({ name: part, path: `${LIST}/summary?${part}` })),
      10,
    );
    if (['lists-filters', 'lists-pairs'].some(isSelected)) {
      progress(`${engine}: counting what each filter matches`);
      const cases: FilterCase[] = [];
      for (const [name, value] of filtersOf(store.ids)) {
        const part = filterQuery(name, value);
        cases.push({ name, query: part, matches: await probe.total(query(part, 'page[size]=1')) });
        progress(`  ${part}: ${cases.at(-1)?.matches}`);
      }
      const large = await probe.total(query('page[size]=1'));
      const isQuick = ({ matches }: FilterCase) => matches >= large / 20 || matches <= 1_000;
      const requestsOf = (selected: readonly FilterCase[]) =>
        selected.flatMap(({ query: part, matches }) =>
          ORDERS.map((order) => ({
            name: `${order} ${part}`,
            path: query(BY_CURSOR, `sort=${order}`, part),
            matches,
          })),
        );
      if (isSelected('lists-filters')) {
        progress(`${engine}: every order with each filter that matches 5 % or 1,000`);
        report('lists-filters (quick)', await timeAll(requestsOf(cases.filter(isQuick))), 10);
        progress(`${engine}: every order with every other filter`);
        report(
          'lists-filters (others)',
          await timeAll(requestsOf(cases.filter((one) => !isQuick(one)))),
          150,
        );
      }
      if (isSelected('lists-pairs')) {
        progress(`${engine}: ${PAIRS} pairs of filters`);
        report('lists-pairs', await timeAll(drawPairs(cases)), 150);
      }
    }
  } finally {
    await server.stop();
  }
  return rows;
}

interface Timed {
  name: string;
  time: number;
  matches?: number | undefined;
}

/** Draws orders with two filters, always the same. */
function drawPairs(cases: readonly FilterCase[]) {
  const all = cases.flatMap((one, index) =>
    cases
      .slice(index + 1)
      .filter(({ name }) => name !== one.name)
      .flatMap((other) =>
        ORDERS.map((order) => ({
          name: `${order} ${one.query} ${other.query}`,
          path: query(BY_CURSOR, `sort=${order}`, one.query, other.query),
        })),
      ),
  );
  return Array.from(
    { length: Math.min(PAIRS, all.length) },
    (_, number) => all[(number * PRIME) % all.length],
  ).flatMap((request) => request ?? []);
}
