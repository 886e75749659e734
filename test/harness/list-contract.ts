import { expect } from 'vitest';
import type { TestResponse, TestServer } from './server.ts';

type Row = Readonly<Record<string, any>>;

/** A value of a filter, and which rows it lets through. */
export interface FilterCase {
  value: string | readonly string[];
  fits(row: Row): boolean;
  /** That rows which fit are left out unless they are asked for. */
  hides?: boolean;
}

export interface ListContract {
  operation: string;
  path: string;
  token: string;
  /** What tells rows apart. */
  key: string;
  /** How pages are asked for, and where the total is told. */
  style: 'v1' | 'flat' | 'log';
  /** By parameter. Every filter of the list has a case that leaves out some rows and lets others through. */
  filters: Readonly<Record<string, FilterCase>>;
  /** Parameters that say how rows are told, and narrow nothing. */
  responseOnly?: readonly string[];
  /** By name of an order: what a row is sorted by; `null` is last. */
  orders: Readonly<Record<string, (row: Row) => string | number | null>>;
  /** How many rows the caller sees at least. */
  atLeast: number;
}

const PAGE = {
  v1: ['page[number]', 'page[size]'],
  flat: ['page', 'perPage'],
  log: ['', 'page[size]'],
} as const;

/**
 * Reads a list in every way that it can be read: whole, by pages and by cursor, by each filter, by two of them, by each
 * order in both directions. Each row is there once, and totals are right.
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
  // Every list of V1 has it; that it narrows staff alone is tested once.
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

/** @returns the address of a relation of `Link` */
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

/** By code point, as both engines compare; nothing is last in both directions. */
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
