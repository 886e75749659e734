import { expect } from 'vitest';
import type { TestResponse, TestServer } from './server.ts';

type Row = Readonly<Record<string, any>>;

/** A value of a filter, and the rows that match it. */
export interface FilterCase {
  value: string | readonly string[];
  fits(row: Row): boolean;
  /** Whether the list omits matching rows unless the request includes them. */
  hides?: boolean;
}

export interface ListContract {
  operation: string;
  path: string;
  token: string;
  /** The unique field of a row. */
  key: string;
  /** The parameters of pages, and the place of the total. */
  style: 'v1' | 'flat' | 'log';
  /** By parameter. Each filter of the list has a case that excludes some rows and includes others. */
  filters: Readonly<Record<string, FilterCase>>;
  /** Parameters that change the representation and do not filter. */
  responseOnly?: readonly string[];
  /** The sort key of a row, by the name of the sort; `null` is last. */
  orders: Readonly<Record<string, (row: Row) => string | number | null>>;
  /** The minimum number of rows that the caller sees. */
  atLeast: number;
}

const PAGE = {
  v1: ['page[number]', 'page[size]'],
  flat: ['page', 'perPage'],
  log: ['', 'page[size]'],
} as const;

/**
 * Reads a list in every way: in one response, by page and by cursor, with each filter and with two, in each order and both
 * directions. Checks that each row appears once, and that totals are correct.
 */
export async function verifyListContract(server: TestServer, walk: ListContract): Promise<Row[]> {
  await expectFullCoverage(server, walk);
  const all = await readByCursor(server, walk, {}, 200);
  expect(all.length).toBeGreaterThanOrEqual(walk.atLeast);
  expectSame(all, await readByCursor(server, walk, {}, 3));
  if (walk.style !== 'log') expectSame(all, await readByPage(server, walk, {}, 3));

  const cases = Object.entries(walk.filters);
  const whole = [...all];
  for (const [parameter, { value, hides }] of cases)
    if (hides === true) whole.push(...(await readByCursor(server, walk, { [parameter]: value }, 5)));
  const rowsOf = (...chosen: FilterCase[]) =>
    whole.filter((row) =>
      cases.every(([, one]) => (chosen.includes(one) ? one.fits(row) : one.hides !== true || !one.fits(row))),
    );
  for (const [parameter, one] of cases) {
    const fitting = rowsOf(one);
    expect(fitting.length, `${parameter} lets nothing through`).toBeGreaterThan(0);
    expect(fitting.length, `${parameter} lets everything through`).toBeLessThan(whole.length);
    await expectRows(server, walk, { [parameter]: one.value }, fitting);
  }
  for (const [index, [parameter, one]] of cases.entries()) {
    for (const [other, two] of cases.slice(index + 1)) {
      const fitting = rowsOf(one, two);
      await expectRows(server, walk, { [parameter]: one.value, [other]: two.value }, fitting);
    }
  }
  for (const [order, valueOf] of Object.entries(walk.orders)) {
    for (const descending of [false, true]) {
      const query = orderQuery(walk, order, descending);
      const rows = await readByCursor(server, walk, query, 4);
      expectSame(sortedKeys(all, walk), sortedKeys(rows, walk));
      expect(rows.map(valueOf), `${order}, ${descending ? 'descending' : 'ascending'}`).toEqual(
        sortValues(rows.map(valueOf), descending),
      );
      if (walk.style !== 'log') expectSame(rows, await readByPage(server, walk, query, 4));
    }
  }
  return all;
}

async function expectFullCoverage(
  server: TestServer,
  { operation, filters, orders, style, responseOnly = [] }: ListContract,
) {
  const { body: document } = await server.request('GET', '/openapi.json');
  const found = Object.values<any>(document.paths)
    .flatMap((methods) => Object.values<any>(methods))
    .find(({ operationId }) => operationId === operation);
  const names: string[] = found.parameters
    .filter((parameter: any) => parameter.in === 'query')
    .map(({ name }: any) => name);
  const paging = new Set([
    'page[number]',
    'page[size]',
    'page[after]',
    'page',
    'perPage',
    'sort',
    'sortDir',
    'fields',
  ]);
  // Every V1 list has this filter. Another test checks that it filters for staff only.
  paging.add(style === 'flat' ? '' : 'filter[organization_uid][]');
  expect(names.filter((name) => !paging.has(name)).sort()).toEqual(
    [...Object.keys(filters), ...responseOnly].sort(),
  );
  const sort = found.parameters.find(({ name }: any) => name === 'sort');
  const sorts: string[] = (sort?.schema.enum ?? []).filter((name: string) => !name.startsWith('-'));
  expect(sorts.sort()).toEqual(Object.keys(orders).sort());
}

type Query = Readonly<Record<string, string | readonly string[]>>;

async function expectRows(server: TestServer, walk: ListContract, query: Query, rows: readonly Row[]) {
  const found = await readByCursor(server, walk, query, 5);
  expect({ query, rows: sortedKeys(found, walk) }).toEqual({ query, rows: sortedKeys(rows, walk) });
  if (walk.style !== 'log') expectSame(found, await readByPage(server, walk, query, 5));
}

function orderQuery({ style }: ListContract, order: string, descending: boolean): Query {
  return style === 'flat'
    ? { sort: order, sortDir: descending ? 'desc' : 'asc' }
    : { sort: `${descending ? '-' : ''}${order}` };
}

async function readByPage(
  server: TestServer,
  walk: ListContract,
  query: Query,
  size: number,
): Promise<Row[]> {
  const [pageName, sizeName] = PAGE[walk.style];
  const rows: Row[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await get(server, walk, { ...query, [pageName]: String(page), [sizeName]: String(size) });
    rows.push(...(answer.body as Row[]));
    const { total, pages } = totalsOf(answer, walk);
    expect(pages).toBe(Math.max(1, Math.ceil(total / size)));
    const next = linkOf(answer, 'next');
    if (page < pages) {
      expect(answer.body).toHaveLength(size);
      expect(next).toBeDefined();
      continue;
    }
    expect(next).toBeUndefined();
    expect(total).toBe(rows.length);
    return rows;
  }
}

function totalsOf({ headers }: TestResponse, { style }: ListContract): { total: number; pages: number } {
  if (style === 'v1') {
    const told = JSON.parse(headers.get('x-pagination') ?? '{}') as Record<string, number>;
    return { total: told['total_entries'] ?? -1, pages: told['total_pages'] ?? -1 };
  }
  return {
    total: Number(headers.get('pagination-total-count')),
    pages: Number(headers.get('pagination-total-pages')),
  };
}

async function readByCursor(
  server: TestServer,
  walk: ListContract,
  query: Query,
  size: number,
): Promise<Row[]> {
  const sizeName = PAGE[walk.style][1];
  const rows: Row[] = [];
  let path: string | undefined = pathOf(walk, { ...query, 'page[after]': '', [sizeName]: String(size) });
  while (path !== undefined) {
    const answer: TestResponse = await server.request('GET', path, { token: walk.token });
    expect(answer.status, `${path}: ${answer.text}`).toBe(200);
    expect(answer.headers.get('x-pagination')).toBeNull();
    expect(answer.headers.get('pagination-total-count')).toBeNull();
    expect((answer.body as Row[]).length).toBeLessThanOrEqual(size);
    rows.push(...(answer.body as Row[]));
    const next = linkOf(answer, 'next');
    const head: TestResponse = await server.request('HEAD', path, { token: walk.token });
    expect([head.status, linkOf(head, 'next')]).toEqual([200, next]);
    path = next === undefined ? undefined : next.slice(new URL(next).origin.length);
  }
  expect(new Set(rows.map((row) => row[walk.key])).size).toBe(rows.length);
  return rows;
}

/** @returns the URL of a relation in the `Link` header */
export function linkOf({ headers }: TestResponse, relation: string): string | undefined {
  const links = (headers.get('link') ?? '').split(', ');
  return links
    .find((link) => link.endsWith(`rel="${relation}"`))
    ?.slice(1)
    .split('>', 1)[0];
}

async function get(server: TestServer, walk: ListContract, query: Query): Promise<TestResponse> {
  const answer = await server.request('GET', pathOf(walk, query), { token: walk.token });
  expect({ status: answer.status, path: answer.status === 200 ? '' : answer.text }).toEqual({
    status: 200,
    path: '',
  });
  return answer;
}

function pathOf({ path }: ListContract, query: Query): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  return `${path}?${new URLSearchParams(parameters)}`;
}

function sortedKeys(rows: readonly Row[], { key }: ListContract): string[] {
  return rows.map((row) => String(row[key])).sort();
}

function expectSame(one: readonly unknown[], other: readonly unknown[]): void {
  expect(other).toEqual(one);
}

/** Compares by code point, like both engines; `null` is last in both directions. */
function sortValues(values: readonly (string | number | null)[], descending: boolean) {
  const known = values.filter((value) => value !== null).sort(compare);
  if (descending) known.reverse();
  return [...known, ...values.filter((value) => value === null)];
}

function compare(one: string | number, other: string | number): number {
  if (typeof one === 'string' && typeof other === 'string')
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return Number(one) - Number(other);
}
