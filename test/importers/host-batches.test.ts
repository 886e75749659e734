import { beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { buildObservedPort, hostWithPorts } from '../../src/importers/parsing/scanned-hosts.ts';
import type { ReportRecord } from '../../src/importers/report.ts';
import { runImport } from '../../src/importers/run-import.ts';
import { createImport } from '../harness/direct-imports.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { gate } from '../harness/gate.ts';
import { useOwnServer } from '../harness/server.ts';

const NOW = Date.UTC(2030, 0, 1);
/** Fills the first batch of an import. */
const PORTS = 2_000;

const server = await useOwnServer({}, () => NOW);
const fixtures = createFixtures(server);
let organization: { id: number; uid: string };
beforeEach(async () => {
  organization = await fixtures.organization();
});

const ports = Array.from({ length: PORTS }, (_, number) => buildObservedPort('tcp', number + 1));
const host = (number: number): ReportRecord => ({
  kind: 'host',
  host: { ...hostWithPorts(`192.0.2.${number}`, ports), complete: true },
});

/** Imports the records that `read` yields. */
async function importRecords(
  read: () => AsyncGenerator<ReportRecord>,
  write: Database['write'],
  signal = new AbortController().signal,
) {
  const { db } = server.context;
  const place = { organizationId: organization.id, assessment: null };
  return runImport({
    db: { ...db, write },
    source: async function* () {},
    format: { name: 'scanner', title: 'Scanner', hasFindings: false, detect: () => true, read },
    job: await createImport(db, place, { format: 'scanner', report: '', at: NOW }),
    clock: () => NOW,
    signal,
  });
}

const countHosts = async () => {
  const { count } = await server.context.db.read
    .selectFrom('assets')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('organization_id', '=', organization.id)
    .executeTakeFirstOrThrow();
  return Number(count);
};

describe('a batch of hosts', () => {
  it('is written while the next one is read', async () => {
    const { db } = server.context;
    const { open, opened } = gate();
    const { result, state } = await importRecords(
      async function* () {
        yield host(1);
        open();
        yield host(2);
      },
      async (work, options) => {
        await opened;
        return db.write(work, options);
      },
    );
    expect(state).toBe('succeeded');
    expect(result).toMatchObject({ assets_created: 2, ports_opened: 2 * PORTS });
  });

  it('counts if the import is stopped while it is written', async () => {
    const { db } = server.context;
    const { open, opened } = gate();
    const stop = new AbortController();
    const { result, state } = await importRecords(
      async function* () {
        yield host(1);
        // The transaction has begun.
        await opened;
        stop.abort();
        yield host(2);
      },
      (work, options) =>
        db.write((tx) => {
          open();
          return work(tx);
        }, options),
      stop.signal,
    );
    expect(state).toBe('cancelled');
    expect(result).toMatchObject({ assets_created: 1, ports_opened: PORTS });
    expect(await countHosts()).toBe(1);
  });

  it('that cannot be written ends the import with the error', async () => {
    let read = 0;
    const imported = importRecords(
      async function* () {
        for (read = 1; read <= 10; read += 1) yield host(read);
      },
      () => Promise.reject(new Error('The disk is full.')),
    );
    await expect(imported).rejects.toThrow('The disk is full.');
    expect(read).toBe(2);
    expect(await countHosts()).toBe(0);
  });
});
