import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { masterKeyFingerprint, parseMasterKey } from '../../src/auth/master-key.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type Context, openContext } from '../../src/runtime/context.ts';
import { cliAttribution } from '../../src/auth/callers.ts';
import { generateSigningKey } from '../../src/auth/keys.ts';
import { KeysMissing, MasterKeyMismatch } from '../../src/domain/tokens/deployment-keys.ts';
import { resealKeys } from '../../src/domain/tokens/reseal-keys.ts';
import { toProblem } from '../../src/http/problems.ts';
import { listSigningKeys, rotateSigningKey } from '../../src/domain/tokens/signing-keys.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { engine } from '../harness/server.ts';

const newText = () => randomBytes(32).toString('base64');
const keyOf = (text: string) => {
  const key = parseMasterKey(text);
  if (key === undefined) throw new Error(text);
  return key;
};

const places: TestDatabase[] = [];
const folders: string[] = [];
const open: Context[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ db }) => db.close()));
});
afterAll(async () => {
  await Promise.all(places.map((place) => place.drop()));
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function newPlace(): Promise<TestDatabase> {
  const place = await createTestDatabase();
  places.push(place);
  return place;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-folder-'));
  folders.push(folder);
  return folder;
}

/** Starts as a server does, or as a command. */
async function start(
  place: TestDatabase,
  env: Record<string, string> = {},
  {
    dataDirectory = place.dataDirectory,
    command = false,
    log = () => undefined,
  }: { dataDirectory?: string; command?: boolean; log?: (line: string) => unknown } = {},
): Promise<Context> {
  const config = { ...loadConfig({}, env), dataDirectory, databaseUrl: place.databaseUrl };
  const context = await openContext(
    config,
    { write: (line) => void log(line) },
    command ? { pageCache: 8, createsDatabase: true } : undefined,
  );
  open.push(context);
  return context;
}

const claims = { jti: 'j', sub: 's' };
const lifetime = () => ({ issuedAt: Date.now(), expiresAt: Date.now() + 60_000 });

async function expectSameKeys(one: Context, other: Context): Promise<void> {
  expect(other.keys.secret).toEqual(one.keys.secret);
  expect(await other.keys.verify(await one.keys.sign(claims, lifetime()), Date.now())).toMatchObject(claims);
}

const fileIn = (folder: string) => join(folder, 'keys', 'master.key');

describe('With a key in the data folder', () => {
  it('the first start makes it, readable by its owner only, and later ones use it', async () => {
    const place = await newPlace();
    const first = await start(place);
    const file = fileIn(place.dataDirectory);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    expect(masterKeyFingerprint(keyOf(text.trim()))).toBe(masterKeyFingerprint(first.masterKey));
    await expectSameKeys(first, await start(place));
    await expectSameKeys(first, await start(place, {}, { command: true }));
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('neither the key nor what it seals is in the database in clear', async () => {
    const place = await newPlace();
    const { db, keys } = await start(place);
    const rows = JSON.stringify([
      await db.read.selectFrom('signing_keys').selectAll().execute(),
      await db.read.selectFrom('deployment_keys').selectAll().execute(),
    ]);
    expect(rows).not.toContain('"d"');
    for (const encoding of ['base64', 'base64url', 'hex'] as const)
      expect(rows).not.toContain(Buffer.from(keys.secret).toString(encoding));
    expect(rows).not.toContain(readFileSync(fileIn(place.dataDirectory), 'utf8').trim());
  });

  it('instances that start at once make one set of keys', async () => {
    const place = await newPlace();
    const [one, ...others] = await Promise.all([1, 2, 3, 4].map(() => start(place)));
    if (one === undefined) throw new Error('none');
    expect(await listSigningKeys(one.db.read)).toHaveLength(1);
    for (const other of others) await expectSameKeys(one, other);
  });

  it('a lost file is not made anew', async () => {
    const place = await newPlace();
    const { masterKey } = await start(place);
    const file = fileIn(place.dataDirectory);
    const text = readFileSync(file, 'utf8');
    rmSync(file);
    await expect(start(place)).rejects.toMatchObject({
      expected: masterKeyFingerprint(masterKey),
      found: undefined,
    });
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, text);
    await start(place);
  });

  it('a damaged file is told, and kept', async () => {
    const place = await newPlace();
    await start(place);
    const file = fileIn(place.dataDirectory);
    chmodSync(file, 0o600);
    writeFileSync(file, 'short');
    await expect(start(place)).rejects.toThrow(/master\.key is damaged: it must contain 32 bytes in base64/);
    expect(readFileSync(file, 'utf8')).toBe('short');
  });

  it('another master key in the environment is refused, by both fingerprints', async () => {
    const place = await newPlace();
    const { masterKey } = await start(place);
    const text = newText();
    const error = await start(place, { ASSAY_MASTER_KEY: text }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MasterKeyMismatch);
    expect(error).toMatchObject({
      expected: masterKeyFingerprint(masterKey),
      found: masterKeyFingerprint(keyOf(text)),
    });
  });
});

describe.runIf(engine() === 'postgres')('Without the folder of the server', () => {
  it('a command makes no keys that a server might refuse, and no file', async () => {
    const place = await newPlace();
    await expect(start(place, {}, { command: true })).rejects.toBeInstanceOf(KeysMissing);
    expect(existsSync(fileIn(place.dataDirectory))).toBe(false);
    await start(place);
    await start(place, {}, { command: true });
  });

  it.each([true, false])('who lacks the key is refused by its fingerprint (command: %s)', async (command) => {
    const place = await newPlace();
    const { masterKey } = await start(place);
    const needed = masterKeyFingerprint(masterKey);
    const dataDirectory = newFolder();
    await expect(start(place, {}, { dataDirectory, command })).rejects.toMatchObject({
      expected: needed,
      found: undefined,
    });
    expect(existsSync(fileIn(dataDirectory))).toBe(false);

    const another = await newPlace();
    const { masterKey: wrong } = await start(another);
    await expect(start(place, {}, { dataDirectory: another.dataDirectory, command })).rejects.toMatchObject({
      expected: needed,
      found: masterKeyFingerprint(wrong),
    });
  });
});

describe('With ASSAY_MASTER_KEY', () => {
  it('no file is made, and no instance and no command needs a folder', async () => {
    const place = await newPlace();
    const env = { ASSAY_MASTER_KEY: newText() };
    // Also when a command comes first.
    const first = await start(place, env, { command: true });
    const elsewhere = engine() === 'postgres' ? newFolder() : place.dataDirectory;
    await expectSameKeys(first, await start(place, env, { dataDirectory: elsewhere }));
    expect(existsSync(join(elsewhere, 'keys'))).toBe(false);
    await expect(start(place)).rejects.toMatchObject({
      expected: masterKeyFingerprint(first.masterKey),
      found: undefined,
    });
  });

  it.each([16, 31, 33, 64])('a key of %i bytes is refused, and not repeated', (length) => {
    const text = randomBytes(length).toString('base64');
    const load = () => loadConfig({}, { ASSAY_MASTER_KEY: text });
    expect(load).toThrow(/^ASSAY_MASTER_KEY must be 32 bytes in base64\. /);
    expect(load).not.toThrow(text);
  });

  it.each(['hex', 'latin1'] as const)('32 bytes as %s are refused', (encoding) => {
    const text = Buffer.alloc(32, 'abcdefg!').toString(encoding);
    expect(() => loadConfig({}, { ASSAY_MASTER_KEY: text })).toThrow('32 bytes in base64');
  });

  it('takes both alphabets of base64, with or without padding, and shows nothing of it', () => {
    const bytes = Buffer.alloc(32, 0xfb);
    const texts = [bytes.toString('base64'), bytes.toString('base64url')];
    const keys = texts.map((text) => loadConfig({}, { ASSAY_MASTER_KEY: text }).masterKey);
    for (const key of keys) expect(key?.export()).toEqual(bytes);
    expect(JSON.stringify(loadConfig({}, { ASSAY_MASTER_KEY: texts[0] ?? '' }))).not.toContain('-_v7');
  });
});

describe('A command that is refused for want of keys', () => {
  it('leaves the database as it was, so that the server finds it new', async () => {
    const place = await createTestDatabase('unmigrated');
    places.push(place);
    const command = () => start(place, {}, { command: true });
    if (engine() === 'postgres') {
      await expect(command()).rejects.toBeInstanceOf(KeysMissing);
      expect((await start(place)).appliedMigrations).toEqual(['0001-initial']);
    } else expect((await command()).appliedMigrations).toEqual(['0001-initial']);
  });
});

describe('Another master key', () => {
  const reseal = (context: Context, atHand: readonly string[], next: string) =>
    context.db.write((tx) => resealKeys(tx, cliAttribution(Date.now()), atHand.map(keyOf), keyOf(next)));

  it('opens the same keys, and the one before opens them no more', async () => {
    const place = await newPlace();
    const [before, after] = [newText(), newText()];
    const first = await start(place, { ASSAY_MASTER_KEY: before });
    const token = await first.keys.sign(claims, lifetime());
    expect(await reseal(first, [newText(), before], after)).toEqual({
      before: masterKeyFingerprint(keyOf(before)),
      after: masterKeyFingerprint(keyOf(after)),
    });
    const next = await start(place, { ASSAY_MASTER_KEY: after });
    expect(await next.keys.verify(token, Date.now())).toMatchObject(claims);
    await expectSameKeys(first, next);
    await expect(start(place, { ASSAY_MASTER_KEY: before })).rejects.toBeInstanceOf(MasterKeyMismatch);
    expect(await reseal(first, [], after)).toBeUndefined();
    await expect(reseal(first, [before], newText())).rejects.toBeInstanceOf(MasterKeyMismatch);
  });

  it('an instance that has the one before goes on with the keys that it has, and says once what it cannot open', async () => {
    const place = await newPlace();
    const [before, after] = [newText(), newText()];
    const lines: string[] = [];
    const old = await start(place, { ASSAY_MASTER_KEY: before }, { log: (line) => lines.push(line) });
    const token = await old.keys.sign(claims, lifetime());
    await reseal(old, [before], after);
    expect(await old.keys.verify(token, Date.now())).toMatchObject(claims);
    expect(await old.keys.verify(await old.keys.sign(claims, lifetime()), Date.now())).toMatchObject(claims);

    const rotate = async (context: Context) => {
      const key = await generateSigningKey();
      await context.db.write((tx) =>
        rotateSigningKey(tx, cliAttribution(Date.now()), context.masterKey, key),
      );
    };
    await expect(rotate(old)).rejects.toBeInstanceOf(MasterKeyMismatch);
    const next = await start(place, { ASSAY_MASTER_KEY: after });
    for (let times = 0; times < 2; times += 1) {
      await rotate(next);
      expect(await old.keys.verify(token, Date.now())).toMatchObject(claims);
      expect(await old.keys.verify('no token', Date.now())).toBeUndefined();
      const newer = await next.keys.sign(claims, lifetime());
      const refusal = await old.keys.verify(newer, Date.now()).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(MasterKeyMismatch);
      expect(toProblem(refusal)).toMatchObject({
        status: 503,
        message: expect.stringContaining('Ask an operator to restart the server with the new master key.'),
        details: { headers: { 'retry-after': '60' } },
      });
    }
    await expect(old.keys.sign(claims, lifetime())).rejects.toBeInstanceOf(MasterKeyMismatch);
    await expect(old.keys.jwks()).rejects.toBeInstanceOf(MasterKeyMismatch);
    expect(
      lines.filter((line) => line.includes('restart this process with the new master key')),
    ).toHaveLength(1);
  });

  it('a row that was put in the place of another is no key', async () => {
    const place = await newPlace();
    const { db, masterKey } = await start(place);
    const key = await generateSigningKey();
    await db.write((tx) => rotateSigningKey(tx, cliAttribution(Date.now()), masterKey, key));
    const [one, other] = await db.read.selectFrom('signing_keys').selectAll().execute();
    await db.write((tx) =>
      tx
        .updateTable('signing_keys')
        .set({ sealed_key: one?.sealed_key ?? '' })
        .where('kid', '=', other?.kid ?? '')
        .execute(),
    );
    await expect(start(place)).rejects.toThrow(/^The signing key \S+ in the database was changed\.$/);
  });
});
