import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { importJobKey, IMPORT_JOB, claimNextImport } from '../../src/domain/imports/import-lifecycle.ts';
import { addJob, finishJob, type Job } from '../../src/domain/shared/jobs.ts';
import { insertImport } from '../harness/imports.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const now = Date.UTC(2026, 5, 1);
const server = await useOwnServer({}, () => now);
const fixtures = createFixtures(server);
afterEach(() =>
  server.context.db.write((tx) => tx.deleteFrom('jobs').where('kind', '=', IMPORT_JOB).execute()),
);

/** Queues an import that is due after the time of the server, which therefore does not claim it. */
async function queue(organizationId: number, assessmentId: number | null = null): Promise<number> {
  const id = await insertImport(server, { organizationId, assessmentId });
  const due = now + 1;
  await server.context.db.write((tx) =>
    addJob(tx, IMPORT_JOB, { import: id }, due, undefined, importJobKey(id)),
  );
  return id;
}

const MINUTE = 60_000;
/** Claims the next job as an instance does, and returns it with its import. */
async function claim(holder: string, maxRunning = 10, at = now + 1) {
  const { db } = server.context;
  const job = await db.write((tx) =>
    claimNextImport(maxRunning)(tx, { holder, now: at, until: at + MINUTE }),
  );
  if (job === undefined) return undefined;
  const { import: id } = JSON.parse(job.payload) as { import: number };
  return { job, id };
}
const finish = (job: Job, holder: string) => server.context.db.write((tx) => finishJob(tx, job, holder));

describe('The next import', () => {
  it('is the oldest; one per assessment, or per organization without an assessment, runs at a time', async () => {
    const { id: organization, uid } = await fixtures.organization();
    const [firstAssessment, otherAssessment] = [
      await fixtures.assessment(uid),
      await fixtures.assessment(uid),
    ];
    const first = await queue(organization, firstAssessment.id);
    const second = await queue(organization, firstAssessment.id);
    const inOtherAssessment = await queue(organization, otherAssessment.id);
    const hosts = await queue(organization);
    const secondJob = await queue(organization);
    const claimed = await claim('a');
    expect(claimed?.id).toBe(first);
    expect((await claim('b'))?.id).toBe(inOtherAssessment);
    expect((await claim('a'))?.id).toBe(hosts);
    expect(await claim('b')).toBeUndefined();
    await finish(claimed?.job as Job, 'a');
    expect((await claim('b'))?.id).toBe(second);
    expect(await claim('a')).toBeUndefined();
    // The other imports, of a crashed instance, are taken over before later ones.
    const later = now + MINUTE + 2;
    expect((await claim('c', 10, later))?.id).toBe(second);
    expect((await claim('c', 10, later))?.id).toBe(inOtherAssessment);
    expect((await claim('c', 10, later))?.id).toBe(hosts);
    expect(await claim('c', 10, later)).toBeUndefined();
    expect(secondJob).toBeGreaterThan(hosts);
  });

  it('belongs to the organization with the fewest running', async () => {
    const [first, second, third] = [
      await fixtures.organization(),
      await fixtures.organization(),
      await fixtures.organization(),
    ];
    const queueIn = async ({ id, uid }: { id: number; uid: string }) =>
      queue(id, (await fixtures.assessment(uid)).id);
    const [a, b, c, d] = [
      await queueIn(first),
      await queueIn(first),
      await queueIn(first),
      await queueIn(first),
    ];
    const running = [await claim('x', 2, now + 1), await claim('x', 2, now + 2)];
    expect(running.map((claimed) => claimed?.id)).toEqual([a, b]);
    // A new organization waits for one run to end, however many runs others had before.
    const e = await queueIn(second);
    const f = await queueIn(second);
    const g = await queueIn(third);
    const order = [];
    for (let round = 0; round < 5; round += 1) {
      await finish(running.shift()?.job as Job, 'x');
      running.push(await claim('x', 2, now + 3 + round));
      order.push(running.at(-1)?.id);
    }
    expect(order).toEqual([e, g, c, f, d]);
  });

  it('belongs to another organization after an undo of one', async () => {
    const organizations = [
      await fixtures.organization(),
      await fixtures.organization(),
      await fixtures.organization(),
    ];
    const [first, second, third] = organizations.map(({ id }) => id) as [number, number, number];
    const undos = [await queue(first), await queue(first)];
    await server.context.db.write((tx) =>
      tx
        .updateTable('jobs')
        .set({ payload: sql`replace(payload, '}', ', "undoneBy": "{}"}')` })
        .where('key', 'in', undos.map(importJobKey))
        .execute(),
    );
    const [imported, otherJob] = [await queue(second), await queue(third)];
    const order = [];
    for (let round = 0; round < 4; round += 1) {
      const claimed = await claim('x', 1, now + 1 + round);
      order.push(claimed?.id);
      await finish(claimed?.job as Job, 'x');
    }
    expect(order).toEqual([undos[0], imported, otherJob, undos[1]]);
  });

  it('belongs to the organization that was served longest ago', async () => {
    const [first, second] = [await fixtures.organization(), await fixtures.organization()];
    const assessments = [];
    for (const { uid } of [first, first, first, second])
      assessments.push((await fixtures.assessment(uid)).id);
    const [a, b, c] = [
      await queue(first.id, assessments[0]),
      await queue(first.id, assessments[1]),
      await queue(first.id, assessments[2]),
    ];
    const d = await queue(second.id, assessments[3]);
    const order = [];
    for (let round = 0; round < 4; round += 1) order.push((await claim('a', 10, now + 1 + round))?.id);
    expect(order).toEqual([a, d, b, c]);
  });

  it('waits while the maximum number runs on all instances, also if claimed concurrently', async () => {
    for (let waiting = 0; waiting < 6; waiting += 1) await queue((await fixtures.organization()).id);
    const claimed = await Promise.all(Array.from({ length: 6 }, (_, index) => claim(`instance ${index}`, 2)));
    expect(claimed.filter((job) => job !== undefined)).toHaveLength(2);
    expect(new Set(claimed.flatMap((job) => job?.id ?? [])).size).toBe(2);
  });
});
