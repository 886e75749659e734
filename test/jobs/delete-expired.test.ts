import { beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { deleteExpired } from '../../src/jobs/delete-expired.ts';
import { recordEvent } from '../../src/domain/audit/record-event.ts';
import { startSession } from '../../src/domain/sign-in/sessions.ts';
import { engine, useOwnServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { applicationsOf, type TestClient } from '../oauth/applications.ts';
import { eventually } from '../harness/eventually.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Rows of a transaction. */
const BATCH = engine() === 'sqlite' ? 250 : 1_000;
const LIMITS = { idle: 4 * HOUR, sessionIdle: 4 * HOUR, lifetime: 7 * DAY, auditDays: null };

let apps: ReturnType<typeof applicationsOf>;
let user: { id: number; token: string };
let client: TestClient;
let now = Date.UTC(2027, 0, 1);
const server = await useOwnServer({}, () => now);
beforeAll(async () => {
  await restJobs();
  apps = applicationsOf(server);
  user = await createFixtures(server).user();
  client = await apps.client();
});

/** Postpones the recurring jobs of the server, which would delete and write rows that the tests count. */
async function restJobs(): Promise<void> {
  const { db } = server.context;
  const jobs = () => db.read.selectFrom('jobs').select(['kind', 'locked_by', 'run_at']).execute();
  await eventually(async () => {
    const all = await jobs();
    expect(all).toContainEqual({ kind: 'delete-expired', locked_by: null, run_at: now + HOUR });
    expect(all.filter(({ locked_by, run_at }) => locked_by !== null || run_at <= now)).toEqual([]);
  });
  await db.write((tx) => tx.updateTable('jobs').set({ run_at: Number.MAX_SAFE_INTEGER }).execute());
}

const remove = () => deleteExpired(server.context.db, LIMITS, now);

const session = () =>
  server.context.db.write((tx) =>
    startSession(
      tx,
      cliChangeContext(now),
      {
        userId: user.id,
        organizationId: null,
        state: 'complete',
        method: 'password',
        browser: { address: '127.0.0.1', userAgent: '' },
      },
      LIMITS,
    ),
  );

describe('Expired rows', () => {
  it('are deleted after their retention period, and not before', async () => {
    await session();
    await apps.tokens(client, user.id);
    expect(await remove()).toEqual({});
    now += LIMITS.idle - 1;
    // A code is retained for an hour after it has expired.
    expect(await remove()).toEqual({ authorization_codes: 1 });
    now += 1;
    expect(await remove()).toEqual({ sessions: 1 });
    now += DAY + HOUR - LIMITS.idle - 1;
    expect(await remove()).toEqual({});
    now += 1;
    expect(await remove()).toEqual({ tokens: 1 });
    now += 30 * DAY;
    expect(await remove()).toEqual({});
    now += 6 * DAY;
    expect(await remove()).toEqual({ refresh_tokens: 1 });
    // Expired personal access tokens stay until their owner deletes them.
    expect(await apps.isAccepted(user.token)).toBe(true);
  });

  it('are retained long enough to detect the reuse of a code or refresh token (RFC 6749, section 10.5)', async () => {
    const code = await apps.code(client, user.id);
    const { body } = await apps.redeem(client, code);
    now += HOUR;
    await remove();
    expect((await apps.redeem(client, code)).body.error).toBe('invalid_grant');
    expect((await apps.refresh(client, body.refresh_token)).body.error).toBe('invalid_grant');

    const first = await apps.tokens(client, user.id);
    const { body: second } = await apps.refresh(client, first.refresh_token);
    now += 20 * DAY;
    await remove();
    const { body: third } = await apps.refresh(client, second.refresh_token);
    expect(third.access_token).toBeDefined();
    now += 11 * DAY;
    await remove();
    await apps.refresh(client, first.refresh_token);
    expect((await apps.refresh(client, third.refresh_token)).body.error).toBe('invalid_grant');
  });

  const attempts = (count: number) =>
    server.context.db.write(async (tx) => {
      for (let index = 0; index < count; index += 1)
        await tx
          .insertInto('throttled_attempts')
          // One account was tried from many addresses: neither column is unique, and all end at the same time.
          .values({
            subject: `s${index % 2}`,
            address: `a${index}`,
            times: '[]',
            locked_until: 0,
            ends_at: now,
          })
          .execute();
    });
  const countAttempts = async () =>
    (await server.context.db.read.selectFrom('throttled_attempts').select('address').execute()).length;

  it('are deleted in small transactions, with a pause after each', async () => {
    await remove();
    await attempts(2_203);
    const stopped = AbortSignal.abort();
    expect(await deleteExpired(server.context.db, LIMITS, now, { signal: stopped })).toEqual({});
    const left: number[] = [];
    const pause = async (milliseconds: number) => {
      expect(milliseconds).toBeGreaterThan(0);
      left.push(await countAttempts());
    };
    expect(await deleteExpired(server.context.db, LIMITS, now, { pause })).toEqual({
      throttled_attempts: 2_203,
    });
    const batches = Math.ceil(2_203 / BATCH);
    expect(left).toEqual(
      Array.from({ length: batches }, (_, index) => Math.max(0, 2_203 - BATCH * (index + 1))),
    );
  });

  it('stay after the job was stopped in a pause', async () => {
    await remove();
    await attempts(1_001);
    const stopping = new AbortController();
    const pause = async () => stopping.abort();
    const { signal } = stopping;
    expect(await deleteExpired(server.context.db, LIMITS, now, { signal, pause })).toEqual({
      throttled_attempts: BATCH,
    });
    expect(await countAttempts()).toBe(1_001 - BATCH);
  });

  it('are deleted by a server after it has started to listen', async () => {
    const { db } = server.context;
    await session();
    now += LIMITS.lifetime;
    await db.write((tx) =>
      tx.updateTable('jobs').set({ run_at: now }).where('kind', '=', 'delete-expired').execute(),
    );
    const app = await buildApp(server.context);
    try {
      const sessions = async () => (await db.read.selectFrom('sessions').select('id').execute()).length;
      expect(await sessions()).toBe(1);
      await app.listen({ host: '127.0.0.1', port: 0 });
      await eventually(async () => expect(await sessions()).toBe(0));
      await eventually(() =>
        expect(server.logs()).toContainEqual(
          expect.objectContaining({ removed: expect.objectContaining({ sessions: 1 }) }),
        ),
      );
    } finally {
      await app.close();
      await restJobs();
    }
  });
});

describe('The audit log', () => {
  const refuse = (at: number) =>
    server.context.deniedAttempts.record(
      {
        actor: { kind: 'stranger', userId: null, credentialId: null, address: '192.0.2.1', requestId: 'r' },
        now: at,
      },
      { action: 'client.refuse', object: ['client', 'app'], organizationId: null, details: null },
    );
  const remaining = async () =>
    (await createFixtures(server).auditEvents()).map(({ action, at }) => [action, at]);
  const removeAfter = (auditDays: number | null) =>
    deleteExpired(server.context.db, { ...LIMITS, auditDays }, now);

  it('retains changes forever by default, and denied attempts for 90 days', async () => {
    refuse(now);
    const before = await remaining();
    now += 90 * DAY;
    await removeAfter(null);
    expect(await remaining()).toEqual(before);
    now += 60_000;
    // The server may have deleted it first.
    await removeAfter(null);
    expect(await remaining()).toEqual(before.filter(([action]) => action !== 'client.refuse'));
  });

  it('retains both for the configured days, and the event of the demo data forever', async () => {
    const { db } = server.context;
    const fixtures = createFixtures(server);
    await db.write((tx) =>
      recordEvent(tx, cliChangeContext(now), {
        action: 'demo.load',
        object: ['organization', 'acme'],
        organizationId: null,
        before: null,
        after: {},
      }),
    );
    await removeAfter(1);
    now += HOUR;
    refuse(now);
    const oldOrganization = await fixtures.organization();
    now += 30 * DAY - 1;
    const young = await fixtures.organization();
    await removeAfter(30);
    expect(await remaining()).toEqual(expect.arrayContaining([['organization.create', now - 30 * DAY + 1]]));
    now += 1;
    expect(oldOrganization.id).not.toBe(young.id);
    await removeAfter(30);
    expect(await remaining()).toEqual([
      ['demo.load', expect.any(Number)],
      ['organization.create', now - 1],
    ]);
  });

  it('is deleted in small transactions, including old events that were recorded after young ones', async () => {
    const { db } = server.context;
    const record = (at: number, count: number) =>
      db.write(async (tx) => {
        for (let index = 0; index < count; index += 1)
          await recordEvent(tx, cliChangeContext(at), {
            action: 'organization.create',
            object: ['organization', `o${index}`],
            organizationId: null,
            before: null,
            after: null,
          });
      });
    const oldest = now;
    now += 400 * DAY;
    await record(now, 1_001);
    await record(oldest + 1, 1_203);
    await record(oldest, 1_203);
    const sizes: number[] = [];
    let before = (await remaining()).length;
    const pause = async () => {
      const after = (await remaining()).length;
      sizes.push(before - after);
      before = after;
    };
    await deleteExpired(db, { ...LIMITS, auditDays: 365 }, now, { pause });
    expect(sizes.length).toBeGreaterThanOrEqual(3);
    expect(sizes.slice(0, 2)).toEqual([BATCH, BATCH]);
    const left = await remaining();
    expect(left.filter(([action]) => action === 'organization.create')).toEqual(
      Array.from({ length: 1_001 }, () => ['organization.create', now]),
    );
    expect(left.map(([action]) => action)).toContain('demo.load');
  });
});
