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
  /** The cases by parameter. Each filter has one that excludes some rows and includes others. */
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
 * Reads a list in every way: in one response, by page and by cursor, with each filter and with two, in each order and
 * both directions. Checks that each row appears once, and that totals are correct.
 */
export async function verifyListContract(server: TestServer, walk: ListContract): Promise<Row[]> {
  await expectFullCoverage(server, walk);
  const all = await readByCursor(server, walk, {}, 200);
  expect(all.length).toBeGreaterThanOrEqual(walk.atLeast);
  expectSame(all, await readByCursor(server, walk, {}, 3));
  if (walk.style !== 'log') expectSame(all, await readByPage(server, walk, {}, 3));

  const cases = Object.entries(walk.filters);
  const allRows = [...all];
  for (const [parameter, { value, hides }] of cases)
    if (hides === true) allRows.push(...(await readByCursor(server, walk, { [parameter]: value }, 5)));
  const rowsOf = (...chosen: FilterCase[]) =>
    allRows.filter((row) =>
      cases.every(([, filterCase]) =>
        chosen.includes(filterCase)
          ? filterCase.fits(row)
          : filterCase.hides !== true || !filterCase.fits(row),
      ),
    );
  for (const [parameter, filterCase] of cases) {
    const matching = rowsOf(filterCase);
    expect(matching.length, `${parameter} lets nothing through`).toBeGreaterThan(0);
    expect(matching.length, `${parameter} lets everything through`).toBeLessThan(allRows.length);
    await expectRows(server, walk, { [parameter]: filterCase.value }, matching);
  }
  for (const [index, [parameter, filterCase]] of cases.entries()) {
    for (const [other, otherCase] of cases.slice(index + 1)) {
      const matching = rowsOf(filterCase, otherCase);
      await expectRows(server, walk, { [parameter]: filterCase.value, [other]: otherCase.value }, matching);
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
  const lists = Object.values<any>(document.paths)
    .flatMap((methods) => Object.values<any>(methods))
    .find(({ operationId }) => operationId === operation);
  const names: string[] = lists.parameters
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
  // Filters for staff only, which other tests check. Every V1 list has the first.
  paging.add(style === 'flat' ? '' : 'filter[organization_uid][]');
  paging.add('filter[draft]');
  expect(names.filter((name) => !paging.has(name)).sort()).toEqual(
    [...Object.keys(filters), ...responseOnly].sort(),
  );
  const sort = lists.parameters.find(({ name }: any) => name === 'sort');
  const sorts: string[] = (sort?.schema.enum ?? []).filter((name: string) => !name.startsWith('-'));
  expect(sorts.sort()).toEqual(Object.keys(orders).sort());
}

type Query = Readonly<Record<string, string | readonly string[]>>;

async function expectRows(server: TestServer, walk: ListContract, query: Query, rows: readonly Row[]) {
  const listed = await readByCursor(server, walk, query, 5);
  expect({ query, rows: sortedKeys(listed, walk) }).toEqual({ query, rows: sortedKeys(rows, walk) });
  if (walk.style !== 'log') expectSame(listed, await readByPage(server, walk, query, 5));
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
    const response = await get(server, walk, {
      ...query,
      [pageName]: String(page),
      [sizeName]: String(size),
    });
    rows.push(...(response.body as Row[]));
    const { total, pages } = totalsOf(response, walk);
    expect(pages).toBe(Math.max(1, Math.ceil(total / size)));
    const next = linkOf(response, 'next');
    if (page < pages) {
      expect(response.body).toHaveLength(size);
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
    const pagination = JSON.parse(headers.get('x-pagination') ?? '{}') as Record<string, number>;
    return { total: pagination['total_entries'] ?? -1, pages: pagination['total_pages'] ?? -1 };
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
    const response: TestResponse = await server.request('GET', path, { token: walk.token });
    expect(response.status, `${path}: ${response.text}`).toBe(200);
    expect(response.headers.get('x-pagination')).toBeNull();
    expect(response.headers.get('pagination-total-count')).toBeNull();
    expect((response.body as Row[]).length).toBeLessThanOrEqual(size);
    rows.push(...(response.body as Row[]));
    const next = linkOf(response, 'next');
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
  const response = await server.request('GET', pathOf(walk, query), { token: walk.token });
  expect({ status: response.status, path: response.status === 200 ? '' : response.text }).toEqual({
    status: 200,
    path: '',
  });
  return response;
}

function pathOf({ path }: ListContract, query: Query): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((item): [string, string] => [name, item]),
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
  const nonNull = values.filter((value) => value !== null).sort(compare);
  if (descending) nonNull.reverse();
  return [...nonNull, ...values.filter((value) => value === null)];
}

function compare(one: string | number, other: string | number): number {
  if (typeof one === 'string' && typeof other === 'string')
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return Number(one) - Number(other);
}
