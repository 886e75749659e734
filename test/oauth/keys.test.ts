import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { generateSigningKey } from '../../src/auth/keys.ts';
import { openContext } from '../../src/context.ts';
import {
  findUnusedKeys,
  listSigningKeys,
  removeSigningKey,
  rotateSigningKey,
} from '../../src/domain/tokens/signing-keys.ts';
import type { Transaction } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { type CommandLine, startCommandLine } from '../cli/command-line.ts';
import { type TestServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { applicationsOf } from './applications.ts';

const HOUR = 3_600_000;

describe('Signing key rotation', () => {
  let server: TestServer;
  let now = Date.UTC(2027, 0, 1);
  beforeAll(async () => {
    server = await useSharedServer(() => now);
  });
  afterAll(() => server.close());

  const kids = async () => (await listSigningKeys(server.context.db.read)).map(({ kid }) => kid);
  const rotate = async () => {
    const { db, masterKey } = server.context;
    const key = await generateSigningKey();
    await db.write((tx) => rotateSigningKey(tx, cliChangeContext(now), masterKey, key));
    return key;
  };
  const remove = (kid: string) =>
    server.context.db.write((tx) => removeSigningKey(tx, cliChangeContext(now), kid));

  it('applies to a running server: old tokens stay valid, new ones use the new key, and both keys are public', async () => {
    const apps = applicationsOf(server);
    const user = await createFixtures(server).user();
    const client = await apps.client();
    // Another instance with the same database.
    const otherContext = await openContext(server.context.config, { write: () => undefined });
    Object.assign(otherContext.addresses, server.context.addresses);
    const { access_token: before } = await apps.tokens(client, user.id);

    for (let round = 0; round < 5; round += 1) {
      const key = await rotate();
      const { access_token: after } = await apps.tokens(client, user.id);
      expect(decodeProtectedHeader(after).kid).toBe(key.kid);
      for (const token of [before, after]) {
        expect(await apps.isAccepted(token)).toBe(true);
        expect(await otherContext.keys.verify(token, now)).toMatchObject({ client_id: client.id });
      }
      const { body } = await server.request('GET', '/.well-known/jwks.json');
      const listedKids = body.keys.map(({ kid }: { kid: string }) => kid);
      expect(listedKids).toEqual(await kids());
      expect(listedKids).toHaveLength(round + 2);
      expect(listedKids[0]).toBe(key.kid);
      expect(JSON.stringify(body)).not.toMatch(/"d":/);
    }

    await remove(decodeProtectedHeader(before).kid ?? '');
    expect(await otherContext.keys.verify(before, now)).toBeUndefined();
    await otherContext.db.close();
  });

  it('ends the tokens of a removed key immediately, including cached ones', async () => {
    const apps = applicationsOf(server);
    const user = await createFixtures(server).user();
    const client = await apps.client();
    const { kid: stolen } = await rotate();
    const { access_token: before } = await apps.tokens(client, user.id);
    expect(decodeProtectedHeader(before).kid).toBe(stolen);
    expect(await apps.isAccepted(before)).toBe(true);
    await expect(remove(stolen)).rejects.toThrow('This key signs new tokens');
    await rotate();
    const { access_token: after } = await apps.tokens(client, user.id);
    expect(await apps.isAccepted(after)).toBe(true);
    expect(await apps.isAccepted(before)).toBe(true);

    await remove(stolen);
    expect(await apps.isAccepted(before)).toBe(false);
    expect(await apps.isAccepted(after)).toBe(true);
    await expect(remove(stolen)).rejects.toMatchObject({ kind: 'not-found' });
  });

  it('creates a key each for concurrent rotations, in the same order everywhere', async () => {
    const before = await kids();
    const created = await Promise.all([1, 2, 3].map(rotate));
    const after = await kids();
    expect(after).toHaveLength(before.length + 3);
    expect(after.slice(3)).toEqual(before);
    expect(after).toEqual(expect.arrayContaining(created.map(({ kid }) => kid)));
  });

  it('writes the key and its event in one transaction', async () => {
    const { db, masterKey } = server.context;
    const before = await kids();
    const key = await generateSigningKey();
    const failing = db.write(async (tx) => {
      await rotateSigningKey(tx, cliChangeContext(now), masterKey, key);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await kids()).toEqual(before);
    expect(JSON.stringify(await createFixtures(server).auditEvents())).not.toContain(key.kid);
  });

  it('keeps a key while a valid token may need it, and no longer', async () => {
    const { db } = server.context;
    const apps = applicationsOf(server);
    const account = await createFixtures(server).user();
    const script = await apps.client({ kind: 'confidential', userId: account.id });
    now += 10 * HOUR;
    const start = now;
    const keys = [
      { kid: 'third', createdAt: start + 4 * HOUR },
      { kid: 'second', createdAt: start + HOUR },
      { kid: 'first', createdAt: start - HOUR },
    ];
    const outOfUse = async () => (await findUnusedKeys(db.read, keys, now)).map(({ kid }) => kid);

    now = start + HOUR - 60_000;
    await apps.clientCredentials(script);
    // Valid for another 59 minutes.
    now = start + 2 * HOUR - 60_001;
    expect(await outOfUse()).toEqual([]);
    now += 1;
    expect(await outOfUse()).toEqual(['first']);

    // A running request may have used the second key.
    now = start + 4 * HOUR;
    expect(await outOfUse()).toEqual(['first']);
    now += 15 * 60_000;
    expect(await outOfUse()).toEqual(['second', 'first']);

    now = start + 4 * HOUR - 60_000;
    const { body } = await apps.clientCredentials(script);
    now = start + 4 * HOUR + 30 * 60_000;
    expect(await outOfUse()).toEqual(['first']);
    await apps.postAs(script, '/oauth/revoke', { token: body.access_token });
    expect(await outOfUse()).toEqual(['second', 'first']);
    // The signing key is never removed.
    expect(await findUnusedKeys(db.read, keys.slice(2), now + 100 * HOUR)).toEqual([]);
  });
});

describe('assay keys', () => {
  let assay: CommandLine;
  beforeAll(async () => {
    assay = await startCommandLine();
    await assay.json('organization', 'create', 'acme', '--name', 'Acme');
    await assay.json('user', 'create', '--email', 'jo@acme.example', '--organization', 'acme');
  });
  afterAll(() => assay.close());

  it('rotates under a running server, and token create --jwt keeps working', async () => {
    const serving = await assay.serve('--no-demo');
    const issuer = { env: { ASSAY_ISSUER: serving.origin } };
    const jwt = async () => {
      const args = ['token', 'create', '--user', 'jo@acme.example', '--jwt', '--json'];
      return JSON.parse((await assay.run(args, issuer)).stdout).token as string;
    };
    const status = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${serving.origin}/v1/assessments/none/testing_hours`, { headers })).status;
    };

    const before = await jwt();
    expect(await status(before)).toBe(404);
    const { added, removed } = await assay.json('keys', 'rotate');
    expect(removed).toEqual([]);
    const after = await jwt();
    expect(decodeProtectedHeader(after).kid).toBe(added);
    expect(await status(after)).toBe(404);
    expect(await status(before)).toBe(404);
    const jwks = (await (await fetch(`${serving.origin}/.well-known/jwks.json`)).json()) as {
      keys: object[];
    };
    expect(jwks.keys).toMatchObject([{ kid: added }, { kid: decodeProtectedHeader(before).kid }]);
    await serving.stop();
  });

  it('lists the keys without their private parts', async () => {
    const keys = await assay.json('keys', 'list');
    expect(keys).toHaveLength(2);
    for (const key of keys) {
      expect(Object.keys(key)).toEqual(['kid', 'created_at', 'use']);
      expect(key.created_at).toMatch(/Z$/);
    }
    const { stdout } = await assay.run(['keys', 'list']);
    expect(stdout).toMatch(/^KID +CREATED +USE\n.*signs and verifies\n.*verifies\n$/);
  });

  it('removes keys that no token needs, prints them and records them', async () => {
    const [second, first] = await assay.json('keys', 'list');
    const db = await openDatabase({ ...assay.database, timeout: 30_000 });
    // Moves their creation into the past.
    await db.write((tx: Transaction) =>
      tx
        .updateTable('signing_keys')
        .set((eb) => ({ created_at: eb('created_at', '-', 48 * HOUR) }))
        .execute(),
    );
    const { stdout } = await assay.run(['keys', 'rotate']);
    expect(stdout).toMatch(
      new RegExp(
        `^Created key \\S+, which now signs access tokens\\.\nRemoved key ${first.kid}, which no valid token needs\\.\n$`,
      ),
    );
    const [third, ...rest] = await assay.json('keys', 'list');
    expect(rest.map(({ kid }: { kid: string }) => kid)).toEqual([second.kid]);

    try {
      const events = await db.read
        .selectFrom('audit_events')
        .select(['action', 'object_id', 'before', 'after'])
        .where('object_type', '=', 'key')
        .orderBy('id')
        .execute();
      const kid = (key: { kid: string }) => JSON.stringify({ kid: key.kid });
      expect(events).toEqual([
        { action: 'key.rotate', object_id: second.kid, before: kid(first), after: kid(second) },
        { action: 'key.rotate', object_id: third.kid, before: kid(second), after: kid(third) },
        { action: 'key.remove', object_id: first.kid, before: kid(first), after: null },
      ]);
    } finally {
      await db.close();
    }
  });

  it('removes a named key, but not the signing one', async () => {
    const [signing, older] = await assay.json('keys', 'list');
    expect(await assay.json('keys', 'remove', older.kid)).toEqual({ removed: older.kid });
    const rejected = await assay.run(['keys', 'remove', signing.kid]);
    expect(rejected).toEqual({
      code: 1,
      stdout: '',
      stderr: 'assay: This key signs new tokens. Rotate the keys first, then remove it.\n',
    });
    expect(await assay.run(['keys', 'remove', 'nothing'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'assay: Key "nothing" not found. Run "assay keys list" to list keys.\n',
    });
    expect(await assay.json('keys', 'list')).toEqual([signing]);
  });

  it('reseals them with another master key, and then names its fingerprint to a command without it', async () => {
    const next = randomBytes(32).toString('base64');
    const env = { ASSAY_MASTER_KEY: next, ...(assay.masterKey && { ASSAY_OLD_MASTER_KEY: assay.masterKey }) };
    const kids = await assay.json('keys', 'list');
    const resealed = await assay.run(['keys', 'reseal', '--json'], { env });
    expect(resealed).toMatchObject({ code: 0, stderr: '' });
    const { fingerprint, changed } = JSON.parse(resealed.stdout);
    expect({ fingerprint, changed }).toEqual({
      fingerprint: expect.stringMatching(/^([0-9a-f]{4}-){3}[0-9a-f]{4}$/),
      changed: true,
    });
    expect(JSON.parse((await assay.run(['keys', 'list', '--json'], { env })).stdout)).toEqual(kids);

    const folder = join(assay.database.dataDirectory, 'keys');
    const encrypted = `assay: This database is encrypted with the master key ${fingerprint}, but `;
    for (const args of [
      ['user', 'list'],
      ['serve', '--port', '0'],
    ]) {
      const { code, stdout, stderr } = await assay.run(args, { env: { ASSAY_MASTER_KEY: '' } });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr.startsWith(encrypted)).toBe(true);
      expect(stderr).toContain(assay.masterKey ? `${folder} has none.` : `the one in ${folder} is `);
    }
    const wrong = await assay.run(['user', 'list'], {
      env: { ASSAY_MASTER_KEY: randomBytes(32).toString('base64') },
    });
    expect(wrong.stderr).toMatch(/, but ASSAY_MASTER_KEY is ([0-9a-f]{4}-){3}[0-9a-f]{4}\. /);
  });
});
