import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addSigningKey, listSigningKeys, loadKeys, removeSigningKey } from '../../src/auth/keys.ts';
import { issuerName } from '../../src/config.ts';
import { keysOutOfUse } from '../../src/domain/tokens/signing-keys.ts';
import { type CommandLine, startCommandLine } from '../cli/command-line.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { worldOf } from '../harness/world.ts';
import { applicationsOf } from './applications.ts';

const HOUR = 3_600_000;

describe('Rotating the signing key', () => {
  let server: TestServer;
  let now = Date.UTC(2027, 0, 1);
  beforeAll(async () => {
    server = await startTestServer({}, () => now);
  });
  afterAll(() => server.close());

  it('a running server follows: old tokens go on, new ones have the new key, and both are public', async () => {
    const { config, addresses } = server.context;
    const apps = applicationsOf(server);
    const user = await worldOf(server).user();
    const client = await apps.client();
    // What another instance has, which shares the folder.
    const other = await loadKeys(config.dataDirectory, issuerName(config, addresses));
    const { access_token: before } = await apps.tokens(client, user.id);

    for (let round = 0; round < 5; round += 1) {
      const key = await addSigningKey(config.dataDirectory, now);
      const { access_token: after } = await apps.tokens(client, user.id);
      expect(decodeProtectedHeader(after).kid).toBe(key.kid);
      for (const token of [before, after]) {
        expect(await apps.opens(token)).toBe(true);
        expect(await other.verify(token, now)).toMatchObject({ client_id: client.id });
      }
      const { body } = await server.request('GET', '/.well-known/jwks.json');
      const kids = body.keys.map(({ kid }: { kid: string }) => kid);
      expect(kids).toEqual(listSigningKeys(config.dataDirectory).map(({ kid }) => kid));
      expect(kids).toHaveLength(round + 2);
      expect(kids[0]).toBe(key.kid);
      expect(JSON.stringify(body)).not.toMatch(/"(d|created_at)":/);
    }

    const { kid = '' } = decodeProtectedHeader(before);
    removeSigningKey(config.dataDirectory, kid);
    await expect.poll(() => other.verify(before, now)).toBeUndefined();
  });

  it('a key that is taken away ends its tokens at once, those that were seen before as well', async () => {
    const { dataDirectory } = server.context.config;
    const apps = applicationsOf(server);
    const user = await worldOf(server).user();
    const client = await apps.client();
    const { kid: stolen } = await addSigningKey(dataDirectory, now);
    const { access_token: before } = await apps.tokens(client, user.id);
    expect(decodeProtectedHeader(before).kid).toBe(stolen);
    expect(await apps.opens(before)).toBe(true);
    await addSigningKey(dataDirectory, now);
    const { access_token: after } = await apps.tokens(client, user.id);
    expect(await apps.opens(after)).toBe(true);
    expect(await apps.opens(before)).toBe(true);

    removeSigningKey(dataDirectory, stolen);
    await expect.poll(() => apps.opens(before)).toBe(false);
    expect(await apps.opens(after)).toBe(true);
  });

  it('two rotations at once make two keys', async () => {
    const { dataDirectory } = server.context.config;
    const count = listSigningKeys(dataDirectory).length;
    const made = await Promise.all([1, 2, 3].map(() => addSigningKey(dataDirectory, now)));
    const kids = listSigningKeys(dataDirectory).map(({ kid }) => kid);
    expect(kids).toHaveLength(count + 3);
    expect(kids).toEqual(expect.arrayContaining(made.map(({ kid }) => kid)));
    expect(readdirSync(join(dataDirectory, 'keys')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('keeps a key for as long as a valid token may need it, and no longer', async () => {
    const { db } = server.context;
    const apps = applicationsOf(server);
    const account = await worldOf(server).user();
    const script = await apps.client({ kind: 'confidential', userId: account.id });
    now += 10 * HOUR;
    const start = now;
    const keys = [
      { kid: 'third', createdAt: start + 4 * HOUR },
      { kid: 'second', createdAt: start + HOUR },
      { kid: 'first', createdAt: start - HOUR },
    ];
    const outOfUse = async () => (await keysOutOfUse(db.read, keys, now)).map(({ kid }) => kid);

    now = start + HOUR - 60_000;
    await apps.clientCredentials(script);
    // As good as it is for another 59 minutes.
    now = start + 2 * HOUR - 60_001;
    expect(await outOfUse()).toEqual([]);
    now += 1;
    expect(await outOfUse()).toEqual(['first']);

    // A request that was being answered may still have got the second one.
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
    // The one that signs stays, whatever the tokens.
    expect(await keysOutOfUse(db.read, keys.slice(2), now + 100 * HOUR)).toEqual([]);
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

  it('rotates under a running server, and token create --jwt goes on', async () => {
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

  it('takes away what no token needs any more, and tells so, also in the audit log', async () => {
    const [second, first] = await assay.json('keys', 'list');
    // As if they had been made long ago.
    for (const number of [1, 2]) {
      const file = join(assay.database.dataDirectory, 'keys', `signing-${number}.json`);
      const key = JSON.parse(readFileSync(file, 'utf8'));
      writeFileSync(file, JSON.stringify({ ...key, created_at: key.created_at - 48 * HOUR }));
    }
    const { stdout } = await assay.run(['keys', 'rotate']);
    expect(stdout).toMatch(
      new RegExp(
        `^Key \\S+ signs from now on\\.\nKey ${first.kid} is taken away: no valid token needs it\\.\n$`,
      ),
    );
    const [third, ...rest] = await assay.json('keys', 'list');
    expect(rest.map(({ kid }: { kid: string }) => kid)).toEqual([second.kid]);

    const { openDatabase } = await assay.module('db/open.js');
    const db = await openDatabase({ ...assay.database, timeout: 5_000 });
    try {
      const events = await db.read
        .selectFrom('audit_events')
        .select(['action', 'object_id', 'before', 'after'])
        .where('object_type', '=', 'key')
        .orderBy('id')
        .execute();
      const kid = (of: { kid: string }) => JSON.stringify({ kid: of.kid });
      expect(events).toEqual([
        { action: 'key.rotate', object_id: second.kid, before: kid(first), after: kid(second) },
        { action: 'key.rotate', object_id: third.kid, before: kid(second), after: kid(third) },
        { action: 'key.remove', object_id: first.kid, before: kid(first), after: null },
      ]);
    } finally {
      await db.close();
    }
  });
});
