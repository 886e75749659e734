import { expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { addPasskey } from '../../src/domain/sign-in/passkeys.ts';
import { useOwnServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';

// On a slow machine, 130 concurrent updates of one row take long.
const server = await useOwnServer({ requestTimeout: 120_000 });

it('Limits an account to 100 tokens when 130 are requested concurrently', async () => {
  const { db } = server.context;
  const account = await createFixtures(server).account();
  const visitor = createFormClient(server);
  await visitor.signIn(account.email, account.password);
  const { text } = await visitor.open('/account/tokens');
  const [, token = ''] = /name="_csrf" value="([^"]+)"/.exec(text) ?? [];
  const fields = { _csrf: token, name: 'one of many', expires: 'never', scopes: 'api' };
  const before = await db.read.selectFrom('tokens').select('id').where('user_id', '=', account.id).execute();
  const pages = await Promise.all(Array.from({ length: 130 }, () => visitor.post('/account/tokens', fields)));
  const rows = await db.read.selectFrom('tokens').select('id').where('user_id', '=', account.id).execute();
  const created = pages.filter((page) => page.text.includes('Token created'));
  const rejected = pages.filter(({ text: page }) =>
    page.includes('you already have 100 tokens, which is the limit'),
  );
  expect(rows.length).toBe(100);
  expect(created).toHaveLength(100 - before.length);
  expect(rejected).toHaveLength(130 - created.length);
  expect(new Set(rejected.map(({ status }) => status))).toEqual(new Set([422]));
});

it('Limits an account to 20 passkeys when 30 are added concurrently', async () => {
  const { db, clock } = server.context;
  const account = await createFixtures(server).account();
  const now = clock();
  const results = await Promise.allSettled(
    Array.from({ length: 30 }, (_, index) =>
      db.write((tx) =>
        addPasskey(
          tx,
          cliChangeContext(now),
          { userId: account.id, organizationId: null },
          {
            id: `passkey-${index}`,
            publicKey: 'AAAA',
            counter: 0,
            transports: [],
            name: `key ${index}`,
            challenge: `challenge-${index}`,
            challengeExpiresAt: now + 60_000,
          },
        ),
      ),
    ),
  );
  const rows = await db.read.selectFrom('passkeys').select('id').where('user_id', '=', account.id).execute();
  expect(rows.length).toBe(results.filter(({ status }) => status === 'fulfilled').length);
  expect(rows.length).toBe(20);
});
