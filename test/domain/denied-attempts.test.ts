import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import type { ChangeContext } from '../../src/auth/callers.ts';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { type DeniedAttempt, DeniedAttempts } from '../../src/domain/audit/denied-attempts.ts';
import { signInWithPassword } from '../../src/domain/sign-in/sign-in-with-password.ts';
import { startTestServer } from '../harness/server.ts';
import { applicationsOf } from '../oauth/applications.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

const MINUTE = 60_000;

/** A second instance with the same database. */
let otherDatabase: Database;
let now = Date.UTC(2026, 5, 1);
const server = await startTestServer({}, () => now);
beforeAll(async () => {
  const { config } = server.context;
  otherDatabase = await openDatabase({ ...config, timeout: config.requestTimeout });
});
beforeEach(() => {
  now += MINUTE;
});
afterAll(async () => {
  await otherDatabase.close();
  await server.close();
});

const from = (address: string, requestId = 'request'): ChangeContext => ({
  actor: { kind: 'stranger', userId: null, credentialId: null, address, requestId },
  now,
});
const deniedAttempt = (object: string | null = 'app'): DeniedAttempt => ({
  action: 'client.refuse',
  object: ['client', object],
  organizationId: null,
  details: null,
});
const rows = () =>
  server.context.db.read
    .selectFrom('audit_events')
    .selectAll()
    .where('denied_key', 'is not', null)
    .where('at', '>=', now)
    .orderBy('id')
    .execute();
/** Runs `work` while no denied attempt can be written. */
async function withoutTable(work: () => Promise<void>): Promise<void> {
  const rename = (a: string, b: string) =>
    server.context.db.write((tx) => sql`alter table ${sql.table(a)} rename to ${sql.table(b)}`.execute(tx));
  await rename('denied_attempt_minutes', 'elsewhere');
  try {
    await work();
  } finally {
    await rename('elsewhere', 'denied_attempt_minutes');
  }
}
const instances = () => [new DeniedAttempts(server.context.db), new DeniedAttempts(otherDatabase)] as const;

describe('Denied attempts', () => {
  it('have one row per minute, action and address, also for concurrent ones on two instances', async () => {
    const instancePair = instances();
    for (let round = 0; round < 5; round += 1) {
      for (let index = 0; index < 40; index += 1)
        instancePair[index % 2]?.record(from('192.0.2.1'), deniedAttempt());
      await Promise.all(instancePair.map((instance) => instance.flush()));
    }
    expect(await rows()).toMatchObject([
      { action: 'client.refuse', object_id: 'app', address: '192.0.2.1', actor_kind: 'stranger', count: 200 },
    ]);
  });

  it('count an IPv6 network as one address, and separate other addresses, actions and minutes', async () => {
    const [instance] = instances();
    instance.record(from('2001:db8::1'), deniedAttempt());
    instance.record(from('2001:db8::ffff:1'), deniedAttempt());
    instance.record(from('2001:db8:0:1::1'), deniedAttempt());
    instance.record(from('192.0.2.1'), deniedAttempt());
    instance.record(from('192.0.2.1'), {
      action: 'sign-in.refuse',
      object: ['user', null],
      organizationId: null,
      details: null,
    });
    instance.record({ ...from('192.0.2.1'), now: now + MINUTE }, deniedAttempt());
    await instance.flush();
    expect((await rows()).map(({ action, address, count }) => [action, address, count])).toEqual([
      ['client.refuse', '2001:db8:0:0::/64', 2],
      ['client.refuse', '2001:db8:0:1::/64', 1],
      ['client.refuse', '192.0.2.1', 1],
      ['sign-in.refuse', '192.0.2.1', 1],
      ['client.refuse', '192.0.2.1', 1],
    ]);
    now += MINUTE;
  });

  it('in a shared row keep only common details, in memory and in the database', async () => {
    const [first, second] = instances();
    first.record(from('192.0.2.1', 'first'), { ...deniedAttempt('a'), details: { why: 'x' } });
    await first.flush();
    expect(await rows()).toMatchObject([
      { object_id: 'a', request_id: 'first', after: '{"why":"x"}', count: 1 },
    ]);
    second.record(from('192.0.2.1', 'second'), { ...deniedAttempt('a'), details: { why: 'x' } });
    await second.flush();
    expect(await rows()).toMatchObject([
      { object_id: 'a', request_id: null, after: '{"why":"x"}', count: 2 },
    ]);
    first.record(from('192.0.2.1', 'third'), deniedAttempt('b'));
    first.record(from('192.0.2.1', 'third'), deniedAttempt('c'));
    await first.flush();
    expect(await rows()).toMatchObject([{ object_id: null, request_id: null, after: null, count: 4 }]);
  });

  it('of anonymous requests have no organization, and details of one organization are not shown to others', async () => {
    const [instance] = instances();
    const changeContext = from('192.0.2.9');
    const wrong = (user: number, organizationId: number): DeniedAttempt => ({
      action: 'second-factor.refuse',
      object: ['user', user],
      organizationId,
      details: null,
    });
    instance.record(changeContext, {
      action: 'sign-in.refuse',
      object: ['user', 7],
      organizationId: 1,
      details: null,
    });
    const by = (userId: number): ChangeContext => ({
      ...changeContext,
      actor: { ...changeContext.actor, kind: 'user', userId },
    });
    instance.record(by(7), wrong(7, 1));
    await instance.flush();
    expect(await rows()).toMatchObject([
      { action: 'sign-in.refuse', organization_id: null },
      { action: 'second-factor.refuse', organization_id: 1, user_id: 7, actor_kind: 'user' },
    ]);
    instance.record(by(8), wrong(8, 2));
    await instance.flush();
    expect((await rows())[1]).toMatchObject({
      organization_id: null,
      user_id: null,
      object_id: null,
      count: 2,
    });
  });

  it('are limited to a thousand rows per minute across instances, and all are counted', async () => {
    const instancePair = instances();
    const networks = 2_600;
    for (let index = 0; index < networks; index += 1)
      instancePair[index % 2]?.record(from(`10.1.${index >> 8}.${index & 255}`), deniedAttempt());
    await Promise.all(instancePair.map((instance) => instance.flush()));
    // Attempts with a row are still counted in it.
    instancePair[1].record(from('10.1.0.0'), deniedAttempt());
    instancePair[0].record(from('10.9.9.9'), deniedAttempt());
    await Promise.all(instancePair.map((instance) => instance.flush()));
    const stored = await rows();
    expect(stored).toHaveLength(1_000);
    expect(stored.reduce((sum, { count }) => sum + count, 0)).toBe(networks + 2);
    expect(stored.find(({ action }) => action === 'refusal.more')).toMatchObject({
      address: null,
      object_type: 'refusal',
      count:
        networks +
        2 -
        stored.filter(({ action }) => action === 'client.refuse').reduce((sum, { count }) => sum + count, 0),
    });
    now += MINUTE;
    instancePair[0].record(from('10.9.9.9'), deniedAttempt());
    await instancePair[0].flush();
    expect(await rows()).toHaveLength(1);
  });

  it('wait while they cannot be written, and are not counted twice', async () => {
    const [instance] = instances();
    await withoutTable(async () => {
      instance.record(from('192.0.2.1'), deniedAttempt());
      await expect(instance.flush()).rejects.toThrow();
      instance.record(from('192.0.2.1'), deniedAttempt());
      await expect(instance.flush()).rejects.toThrow();
    });
    await instance.flush();
    await instance.flush();
    expect(await rows()).toMatchObject([{ count: 2 }]);
  });

  it('of the latest five minutes wait while they cannot be written', async () => {
    const [instance] = instances();
    const first = now;
    await withoutTable(async () => {
      for (; now < first + 6 * MINUTE; now += MINUTE) {
        instance.record(from('192.0.2.1'), deniedAttempt());
        await expect(instance.flush()).rejects.toThrow();
      }
    });
    await instance.flush();
    const last = now;
    now = first;
    const minutes = (await rows()).map(({ at }) => (at - first) / MINUTE);
    now = last;
    expect(minutes.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5]);
  });

  it('are written periodically and on shutdown', async () => {
    const [first, second] = instances();
    first.record(from('192.0.2.1'), deniedAttempt());
    await expect.poll(async () => (await rows()).length).toBe(1);
    second.record(from('192.0.2.2'), deniedAttempt());
    await second.close();
    expect(await rows()).toHaveLength(2);
  });
});

describe('Anonymous requests', () => {
  it('with a secret for a public client or a wrong one write one row per minute', async () => {
    const { id } = await createFixtures(server).client();
    const before = server.context.db.statistics().transactions;
    const responses = await Promise.all(
      Array.from({ length: 60 }, () =>
        applicationsOf(server).post('/oauth/token', {
          grant_type: 'client_credentials',
          client_id: id,
          client_secret: 'guess',
        }),
      ),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([401]));
    await server.context.deniedAttempts.flush();
    expect(await rows()).toMatchObject([{ action: 'client.refuse', object_id: id, count: 60 }]);
    // Includes other writes of the server.
    expect(server.context.db.statistics().transactions - before).toBeLessThan(60);
  });

  it('with passwords for unknown accounts write one row per minute', async () => {
    const visitor = createFormClient(server);
    for (let index = 0; index < 12; index += 1) await visitor.signIn(`nobody${index}@example.com`, 'guess');
    await server.context.deniedAttempts.flush();
    expect(await rows()).toMatchObject([
      { action: 'sign-in.refuse', object_id: null, organization_id: null, count: 12 },
    ]);
  });

  it('for many accounts from one address share a lock, which does not affect others', async () => {
    const { context } = server;
    const account = await createFixtures(server).account();
    const attempt = (email: string, password: string, address: string) =>
      signInWithPassword(context, from(address), { email, password, address });
    const spray = async (address: string, count: number) => {
      const outcomes: string[] = [];
      for (let index = 0; index < count; index += 1)
        outcomes.push((await attempt(`${address}${index}@example.com`, 'guess', address)).outcome);
      return outcomes;
    };
    expect((await attempt(account.email, 'wrong', '192.0.2.50')).outcome).toBe('refused');
    // Inserts earlier attempts directly, so that no passwords are hashed.
    await context.db.write((tx) =>
      tx
        .insertInto('throttled_attempts')
        .values(
          Array.from({ length: 90 }, (_, index) => ({
            subject: `before ${index}`,
            address: '192.0.2.50',
            times: JSON.stringify([now]),
            locked_until: 0,
            ends_at: now + 10 * MINUTE,
          })),
        )
        .execute(),
    );
    const outcomes = await spray('192.0.2.50', 25);
    expect(outcomes.slice(0, 19)).toEqual(Array(19).fill('refused'));
    expect(outcomes.slice(19)).toEqual(Array(6).fill('locked'));
    const stored = await context.db.read
      .selectFrom('throttled_attempts')
      .select('subject')
      .where('address', '=', '192.0.2.50')
      .execute();
    expect(stored).toHaveLength(101);
    // Accounts tried before the flood have their own count, as do other addresses.
    expect((await attempt(account.email, account.password, '192.0.2.50')).outcome).toBe('signed-in');
    expect((await attempt(account.email, account.password, '192.0.2.51')).outcome).toBe('signed-in');
    now += 10 * MINUTE;
    expect((await attempt('late@example.com', 'guess', '192.0.2.50')).outcome).toBe('refused');
  });
});
