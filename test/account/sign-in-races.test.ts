import { describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import type { Transaction } from '../../src/db/database.ts';
import {
  endAccessWithoutFactor,
  setSecondFactorRequirement,
} from '../../src/domain/sign-in/second-factor-requirement.ts';
import {
  endOtherSessionsAndRotate,
  lockAccountForSignIn,
  type Session,
  startSession,
} from '../../src/domain/sign-in/sessions.ts';
import { addTotp, generateTotpSecret, removeTotp } from '../../src/domain/sign-in/totp.ts';
import { DomainError } from '../../src/domain/shared/errors.ts';
import { lockAccount } from '../../src/domain/shared/account-rights.ts';
import { revokeTokens } from '../../src/domain/tokens/revoke-tokens.ts';
import { issueToken } from '../../src/domain/tokens/tokens.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { interleave } from '../harness/interleave.ts';
import { useSharedServer } from '../harness/server.ts';

const now = Date.UTC(2026, 5, 1);
const by = cliChangeContext(now);
const limits = { idle: 60_000, lifetime: 60_000 };
const server = await useSharedServer(() => now);

interface Owner {
  userId: number;
  organizationId: number | null;
}

async function newUser(isInOrganization: boolean): Promise<Owner & { organizationUid: string }> {
  const fixtures = createFixtures(server);
  const { id, uid } = await fixtures.organization();
  const user = await fixtures.account(isInOrganization ? { organization: uid } : {});
  return { userId: user.id, organizationId: isInOrganization ? id : null, organizationUid: uid };
}

const start = (tx: Transaction, owner: Owner, state: Session['state'] = 'complete') =>
  startSession(
    tx,
    by,
    { ...owner, state, method: 'password', browser: { address: '192.0.2.1', userAgent: '' } },
    limits,
  );

const startSso = (tx: Transaction, owner: Owner) =>
  startSession(
    tx,
    by,
    { ...owner, state: 'complete', method: 'sso', browser: { address: '192.0.2.1', userAgent: '' } },
    limits,
  );

const addFactor = (tx: Transaction, owner: Owner) =>
  addTotp(tx, by, owner, server.context.keys.secret, { secret: generateTotpSecret(), step: 1 });

async function sessionsOf({ userId }: Owner): Promise<string[]> {
  const rows = await server.context.db.read
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .execute();
  return rows.map(({ id }) => id);
}

/** A sign-in that needs no second factor yet. */
const signIn = (owner: Owner) => async (tx: Transaction) => {
  await lockAccountForSignIn(tx, { ...owner, method: 'password' });
  await start(tx, owner);
};

describe('A session that begins at the same time', () => {
  it('ends when the organization requires a second factor', async () => {
    const owner = await newUser(true);
    await interleave(server, signIn(owner), (tx) =>
      setSecondFactorRequirement(tx, by, owner.organizationUid, true),
    );
    expect(await sessionsOf(owner)).toEqual([]);
  });

  it('ends when the sessions of staff without a second factor do', async () => {
    const owner = await newUser(false);
    await interleave(server, signIn(owner), (tx) => endAccessWithoutFactor(tx, by, null));
    expect(await sessionsOf(owner)).toEqual([]);
  });

  it('ends when the user sets up a second factor in another one', async () => {
    const owner = await newUser(false);
    const { id } = await server.context.db.write((tx) => start(tx, owner));
    await interleave(server, signIn(owner), async (tx) => {
      await addFactor(tx, owner);
      await endOtherSessionsAndRotate(tx, by, { ...owner, id });
    });
    expect(await sessionsOf(owner)).toEqual([id]);
  });
});

describe('The last second factor', () => {
  it('is not removed if the organization starts to require one at the same time', async () => {
    const owner = await newUser(true);
    await server.context.db.write((tx) => addFactor(tx, owner));
    await expect(
      interleave(
        server,
        (tx) => setSecondFactorRequirement(tx, by, owner.organizationUid, true),
        (tx) => removeTotp(tx, by, owner, 'required'),
      ),
    ).rejects.toThrow('second factor');
  });
});

describe('A session of single sign-on', () => {
  it('does not end when the organization starts to require a second factor, because the provider verifies it', async () => {
    const owner = await newUser(true);
    const { db } = server.context;
    await db.write((tx) => start(tx, owner));
    await db.write((tx) => startSso(tx, owner));
    await db.write((tx) => setSecondFactorRequirement(tx, by, owner.organizationUid, true));
    const rows = await db.read
      .selectFrom('sessions')
      .select('method')
      .where('user_id', '=', owner.userId)
      .execute();
    expect(rows).toEqual([{ method: 'sso' }]);
  });
});

describe('A token that is created with another one', () => {
  it('waits for a sign-in that ends sessions of its account, without a deadlock', async () => {
    const owner = await newUser(true);
    const { db, keys } = server.context;
    const creator = await createFixtures(server).token(owner.userId);
    let runs = 0;
    const issue = (tx: Transaction) => {
      runs += 1;
      return issueToken(tx, by, keys, {
        userId: owner.userId,
        kind: 'personal',
        expiresAt: null,
        createdBy: creator.id,
      });
    };
    await interleave(
      server,
      async (tx) => {
        runs += 1;
        await lockAccount(tx, owner.userId);
      },
      (tx) =>
        issue(tx).catch((error: unknown) => (error instanceof DomainError ? error : Promise.reject(error))),
      (tx) => revokeTokens(tx, by, { id: creator.id }),
    );
    // A transaction that ends in a deadlock runs again.
    expect(runs).toBe(2);
    const created = await db.read
      .selectFrom('tokens')
      .select('id')
      .where('made_by', '=', creator.id)
      .execute();
    expect(created).toEqual([]);
  });
});
