import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestServer, useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';

/** No request holds the event loop, which is that of the database as well on SQLite. */

const MANY = 20_000;
/** Turns: it is two or three where the statements are answered in this thread. */
const FEW = 20;
let server: TestServer;
let admin: TestUser;

beforeAll(async () => {
  server = await useSharedServer();
  const world = createFixtures(server);
  const { id: organization, uid } = await world.organization();
  admin = await world.user({ organization: uid, admin: true });
  const { id: assessment } = await world.assessment(uid, 'large');
  await server.context.db.write(async (tx) => {
    await sql`insert into counters (kind, subject, bucket, amount)
      values ('organization', ${organization}, '1:1', ${MANY})`.execute(tx);
    await sql`insert into vulnerabilities (organization_id, assessment_id, severity, status_id, status_set_at, created_at,
        updated_at, first_seen_at, title, description, search_title, search_description)
      select ${organization}, ${assessment}, 'Low', 1, 1, v * 1000, 1, 1, 'Reflected input ' || v, '',
        'reflected input ' || v, 'reflected input in the search form'
      from (with recursive n (v) as (select 1 union all select v + 1 from n where v < ${MANY}) select v from n)`.execute(
      tx,
    );
  });
});
afterAll(() => server.close());

/** @returns how often the event loop turned while a request was answered, and the answer */
async function turnsDuring(query: string, accept = 'application/json') {
  let running = true;
  let turns = 0;
  const counting = (async () => {
    for (; running; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  })();
  const answer = await fetch(`${server.origin}/v1/vulnerabilities${query}`, {
    headers: { authorization: `Bearer ${admin.token}`, accept },
  });
  const text = await answer.text();
  running = false;
  await counting;
  expect(answer.status).toBe(200);
  return { turns, text };
}

describe('The event loop', () => {
  it.each([
    ['a search for what all of them have', '?filter[search]=reflected&page[size]=1'],
    ['an order that no index has', '?sort=title&page[size]=1'],
    ['a filter that no index has', '?filter[source][]=manual&page[size]=1'],
    ['a page that is deep in the list', `?page[number]=${MANY - 1}&page[size]=1`],
    ['a summary of what is searched', '/summary?filter[search]=reflected'],
  ])('turns during %s', async (_name, query) => {
    // On a machine that is busy a short one may be over before the loop has its next turn: then it is asked again.
    let most = 0;
    for (let attempt = 0; attempt < 20 && most <= FEW; attempt += 1) {
      const { turns, text } = await turnsDuring(query);
      expect(text).toMatch(/reflected|by_severity/i);
      most = Math.max(most, turns);
    }
    expect(most).toBeGreaterThan(FEW);
  });

  it('turns during an export', async () => {
    const { turns, text } = await turnsDuring('', 'text/csv');
    expect(text.split('\r\n')).toHaveLength(MANY + 2);
    expect(turns).toBeGreaterThan(1_000);
  });
});
