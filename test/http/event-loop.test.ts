import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

// A long statement must not block the event loop. With SQLite, which has no server of its own, such statements run on
// worker threads.

const MANY = 20_000;
/** Minimum number of turns; two or three if the statements run on this thread. */
const FEW = 20;

const server = await useSharedServer();
const fixtures = createFixtures(server);
const { id: organization, uid } = await fixtures.organization();
const admin = await fixtures.user({ organization: uid, admin: true });
const { id: assessment } = await fixtures.assessment(uid, 'large');
await server.context.db.write(async (tx) => {
  await sql`insert into counters (kind, subject, bucket, amount)
      values ('organization', ${organization}, '1:1:0', ${MANY})`.execute(tx);
  await sql`insert into vulnerabilities (organization_id, assessment_id, severity, status_id, status_set_at, created_at,
        updated_at, first_seen_at, title, description, search_title, search_description)
      select ${organization}, ${assessment}, 'Low', 1, 1, v * 1000, 1, 1, 'Reflected input ' || v, '',
        'reflected input ' || v, 'reflected input in the search form'
      from (with recursive n (v) as (select 1 union all select v + 1 from n where v < ${MANY}) select v from n)`.execute(
    tx,
  );
});

/** @returns the number of turns of the event loop during a request, and the response */
async function turnsDuring(query: string, accept = 'application/json') {
  let running = true;
  let loopTurns = 0;
  const counting = (async () => {
    for (; running; loopTurns += 1) await new Promise((resolve) => setImmediate(resolve));
  })();
  const response = await fetch(`${server.origin}/v1/vulnerabilities${query}`, {
    headers: { authorization: `Bearer ${admin.token}`, accept },
  });
  const text = await response.text();
  running = false;
  await counting;
  expect(response.status).toBe(200);
  return { turns: loopTurns, text };
}

describe('Event loop', () => {
  it.each([
    ['a search that matches every row', '?filter[search]=reflected&page[size]=1'],
    ['a sort of all matches', `?filter[search]=reflected&sort=title&page[number]=${MANY / 2}&page[size]=1`],
    ['a filter without an index', '?filter[gone]=false&page[size]=1'],
    ['a page deep in a filtered list', `?filter[gone]=false&page[number]=${MANY / 2}&page[size]=1`],
    ['a summary of a search', '/summary?filter[search]=reflected'],
  ])('turns during %s', async (_name, query) => {
    // On a busy machine a short request may end within one turn, so it is repeated.
    let longest = 0;
    for (let attempt = 0; attempt < 20 && longest <= FEW; attempt += 1) {
      const { turns: loopTurns, text } = await turnsDuring(query);
      expect(text).toMatch(/reflected|by_severity/i);
      longest = Math.max(longest, loopTurns);
    }
    expect(longest).toBeGreaterThan(FEW);
  });

  it('turns during an export', async () => {
    const { turns: loopTurns, text } = await turnsDuring('', 'text/csv');
    expect(text.split('\r\n')).toHaveLength(MANY + 2);
    expect(loopTurns).toBeGreaterThan(FEW);
  });
});
