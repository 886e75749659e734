import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { type AttachmentStoreConfig, parseAttachmentStore } from '../../src/config/attachment-store.ts';
import { IMPORT_JOB, importJobKey } from '../../src/domain/imports/import-lifecycle.ts';
import { host, port, report } from '../importers/reports.ts';
import type { TestServer } from './server.ts';

export const HELD_HOSTS = 60;
/** A report with more ports than one transaction, so that an import applies part of its first half. */
export const HELD_REPORT = report(
  Array.from({ length: HELD_HOSTS }, (_host, index) =>
    host(`10.0.0.${index}`, Array.from({ length: 100 }, (_port, number) => port(number + 1)).join('')),
  ).join(''),
);

/** Milliseconds between the bytes that a waiting reader gets, so that it does not time out. */
const DRIP_INTERVAL = 250;

export interface ImportGate {
  /** Environment variables of processes that store their files behind the gate. */
  environment: Record<string, string>;
  /** The store in the configuration of a server in this process. */
  attachments: AttachmentStoreConfig;
  /** From now on, an import receives the first half of its report and waits for the rest. */
  hold(): void;
  /** Sends the rest to waiting imports, and complete reports to later ones. */
  release(): void;
  size(): number;
  stop(): Promise<void>;
}

/**
 * Starts an S3-compatible store that sends as much of a report as the test allows. An import that waits for it is
 * running on any machine, however fast. The gate is open at first.
 */
export async function startImportGate(): Promise<ImportGate> {
  const files = new Map<string, Buffer>();
  const held = new Set<() => void>();
  let isHolding = false;

  function giveHalf(response: ServerResponse, bytes: Buffer): void {
    let released = Math.floor(bytes.length / 2);
    response.write(bytes.subarray(0, released));
    const drip = setInterval(() => {
      if (released + 1 < bytes.length) response.write(bytes.subarray(released, (released += 1)));
    }, DRIP_INTERVAL);
    const giveRest = (): void => void response.end(bytes.subarray(released));
    held.add(giveRest);
    response.on('close', () => {
      clearInterval(drip);
      held.delete(giveRest);
    });
  }

  const server = createServer((request, response) => {
    const { method, url: path = '', headers } = request;
    const respond = async (): Promise<void> => {
      const sent = await buffer(request);
      if (method === 'PUT') files.set(path, sent);
      else if (method === 'DELETE') files.delete(path);
      else {
        const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
        const bytes = files.get(path)?.subarray(Number(start), Number(end) + 1);
        response.statusCode = bytes === undefined ? 404 : 206;
        if (bytes !== undefined && isHolding) return giveHalf(response, bytes);
        response.write(bytes ?? '');
      }
      response.end();
    };
    respond().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const environment: Record<string, string> = {
    ASSAY_ATTACHMENTS: 's3://reports',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_ACCESS_KEY_ID: 'none',
    AWS_SECRET_ACCESS_KEY: 'none',
  };
  return {
    environment,
    attachments: parseAttachmentStore((name) => environment[name]) as AttachmentStoreConfig,
    hold: () => void (isHolding = true),
    release() {
      isHolding = false;
      for (const giveRest of held) giveRest();
    },
    size: () => files.size,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const OTHER_INSTANCE = 'another instance';

/**
 * Blocks the import queue of a server, as if another instance ran the maximum number of imports.
 * @returns a function that unblocks it
 */
export async function holdQueue({
  context: { db },
}: Pick<TestServer, 'context'>): Promise<() => Promise<void>> {
  const rows = Array.from({ length: availableParallelism() }, (_, index) => ({
    kind: IMPORT_JOB,
    key: importJobKey(-index - 1),
    quota_key: null,
    payload: '{}',
    attempts: 1,
    locked_by: OTHER_INSTANCE,
    run_at: Number.MAX_SAFE_INTEGER,
    created_at: 1,
  }));
  await db.write((tx) => tx.insertInto('jobs').values(rows).execute());
  return async () => {
    await db.write((tx) => tx.deleteFrom('jobs').where('locked_by', '=', OTHER_INSTANCE).execute());
  };
}
