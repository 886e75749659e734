import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from './processes.ts';

/** Where requests go, and as whom. */
export interface RequestTarget {
  server: Server;
  token: string;
}

/** @throws Error for an error response */
export async function send(
  { server, token }: RequestTarget,
  path: string,
  init: RequestInit = {},
): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, ...init.headers };
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { ...init, headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

export interface ImportResponse {
  id: number;
  state: string;
  error: { message: string } | null;
  started_at: string | null;
  finished_at: string | null;
  undone: object | null;
}

export async function startImport(
  request: RequestTarget,
  report: Blob,
  assessment: string | undefined,
): Promise<number> {
  const form = new FormData();
  if (assessment !== undefined) form.append('assessment_id', assessment);
  form.append('file', report, 'report');
  return ((await send(request, '/v1/imports', { method: 'POST', body: form })) as ImportResponse).id;
}

/** @param poll milliseconds between two looks @returns the seconds from start to end, without the upload */
export async function awaitImportEnd(request: RequestTarget, id: number, poll = 500): Promise<number> {
  for (;;) {
    const current = (await send(request, `/v1/imports/${id}`)) as ImportResponse;
    if (current.finished_at !== null) {
      if (current.state !== 'succeeded')
        throw new Error(`The import ${current.state}: ${current.error?.message}`);
      return (Date.parse(current.finished_at) - Date.parse(current.started_at ?? '')) / 1_000;
    }
    await delay(poll);
  }
}

/** Waits until a search finds so many vulnerabilities with a title. @returns seconds */
export async function awaitSearch(
  request: RequestTarget,
  { title, count }: { title: string; count: number },
): Promise<number> {
  const startedAt = performance.now();
  const query = new URLSearchParams({
    'filter[search]': title,
    'page[size]': '1',
    'page[number]': String(count),
  });
  while (((await send(request, `/v1/vulnerabilities?${query}`)) as unknown[]).length === 0) await delay(500);
  return (performance.now() - startedAt) / 1_000;
}
