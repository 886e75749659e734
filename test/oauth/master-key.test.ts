import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createMasterKeyFile, masterKeyFingerprint, parseMasterKey } from '../../src/auth/master-key.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type Context, openContext } from '../../src/context.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { generateSigningKey } from '../../src/auth/keys.ts';
import { KeysMissing, MasterKeyMismatch } from '../../src/domain/tokens/server-keys.ts';
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

const testDatabases: TestDatabase[] = [];
const folders: string[] = [];
const open: Context[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ db }) => db.close()));
});
afterAll(async () => {
  await Promise.all(testDatabases.map((testDatabase) => testDatabase.drop()));
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function newDatabase(): Promise<TestDatabase> {
  const testDatabase = await createTestDatabase();
  testDatabases.push(testDatabase);
  return testDatabase;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-folder-'));
  folders.push(folder);
  return folder;
}

/** Starts like a server, or like a command. */
async function start(
  testDatabase: TestDatabase,
  env: Record<string, string> = {},
  {
    dataDirectory = testDatabase.dataDirectory,
    command = false,
    log = () => undefined,
  }: { dataDirectory?: string; command?: boolean; log?: (line: string) => unknown } = {},
): Promise<Context> {
  const config = { ...loadConfig({}, env), dataDirectory, databaseUrl: testDatabase.databaseUrl };
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

describe('Key in the data folder', () => {
  it('is created by the first start, readable only by its owner, and used by later ones', async () => {
    const testDatabase = await newDatabase();
    const first = await start(testDatabase);
    const file = fileIn(testDatabase.dataDirectory);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    expect(masterKeyFingerprint(keyOf(text.trim()))).toBe(masterKeyFingerprint(first.masterKey));
    await expectSameKeys(first, await start(testDatabase));
    await expectSameKeys(first, await start(testDatabase, {}, { command: true }));
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('and encrypted keys are not in the database as plain text', async () => {
    const testDatabase = await newDatabase();
    const { db, keys } = await start(testDatabase);
    const rows = JSON.stringify([
      await db.read.selectFrom('signing_keys').selectAll().execute(),
      await db.read.selectFrom('deployment_keys').selectAll().execute(),
    ]);
    expect(rows).not.toContain('"d"');
    for (const encoding of ['base64', 'base64url', 'hex'] as const)
      expect(rows).not.toContain(Buffer.from(keys.secret).toString(encoding));
    expect(rows).not.toContain(readFileSync(fileIn(testDatabase.dataDirectory), 'utf8').trim());
  });

  it('is created once by concurrent starts', async () => {
    const testDatabase = await newDatabase();
    const [first, ...rest] = await Promise.all([1, 2, 3, 4].map(() => start(testDatabase)));
    if (first === undefined) throw new Error('none');
    expect(await listSigningKeys(first.db.read)).toHaveLength(1);
    for (const other of rest) await expectSameKeys(first, other);
  });

  it('is not changed by a process with the same id as one that crashed while it created the key', () => {
    const folder = newFolder();
    const created = masterKeyFingerprint(createMasterKeyFile(folder));
    const file = fileIn(folder);
    linkSync(file, join(file, '..', `.${basename(file)}.${process.pid}`));
    expect(masterKeyFingerprint(createMasterKeyFile(folder))).toBe(created);
  });

  it('is not created again when the file is lost', async () => {
    const testDatabase = await newDatabase();
    const { masterKey } = await start(testDatabase);
    const file = fileIn(testDatabase.dataDirectory);
    const text = readFileSync(file, 'utf8');
    rmSync(file);
    await expect(start(testDatabase)).rejects.toMatchObject({
      expected: masterKeyFingerprint(masterKey),
      actual: undefined,
    });
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, text);
    await start(testDatabase);
  });

  it('is reported and kept when the file is damaged', async () => {
    const testDatabase = await newDatabase();
    await start(testDatabase);
    const file = fileIn(testDatabase.dataDirectory);
    chmodSync(file, 0o600);
    writeFileSync(file, 'short');
    await expect(start(testDatabase)).rejects.toThrow(
      /master\.key is damaged: it must contain 32 bytes in base64/,
    );
    expect(readFileSync(file, 'utf8')).toBe('short');
  });

  it('rejects another master key in the environment, with both fingerprints', async () => {
    const testDatabase = await newDatabase();
    const { masterKey } = await start(testDatabase);
    const text = newText();
    const error = await start(testDatabase, { ASSAY_MASTER_KEY: text }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MasterKeyMismatch);
    expect(error).toMatchObject({
      expected: masterKeyFingerprint(masterKey),
      actual: masterKeyFingerprint(keyOf(text)),
    });
  });
});

describe.runIf(engine() === 'postgres')("Without the server's data folder", () => {
  it('a command creates neither keys nor a file', async () => {
    const testDatabase = await newDatabase();
    await expect(start(testDatabase, {}, { command: true })).rejects.toBeInstanceOf(KeysMissing);
    expect(existsSync(fileIn(testDatabase.dataDirectory))).toBe(false);
    await start(testDatabase);
    await start(testDatabase, {}, { command: true });
  });

  it.each([true, false])(
    'an error names the fingerprint of the missing key (command: %s)',
    async (command) => {
      const testDatabase = await newDatabase();
      const { masterKey } = await start(testDatabase);
      const fingerprint = masterKeyFingerprint(masterKey);
      const dataDirectory = newFolder();
      await expect(start(testDatabase, {}, { dataDirectory, command })).rejects.toMatchObject({
        expected: fingerprint,
        actual: undefined,
      });
      expect(existsSync(fileIn(dataDirectory))).toBe(false);

      const otherDatabase = await newDatabase();
      const { masterKey: wrong } = await start(otherDatabase);
      await expect(
        start(testDatabase, {}, { dataDirectory: otherDatabase.dataDirectory, command }),
      ).rejects.toMatchObject({
        expected: fingerprint,
        actual: masterKeyFingerprint(wrong),
      });
    },
  );
});

describe('With ASSAY_MASTER_KEY', () => {
  it('no file is created, and neither instances nor commands need a folder', async () => {
    const testDatabase = await newDatabase();
    const env = { ASSAY_MASTER_KEY: newText() };
    // Also if a command runs first.
    const first = await start(testDatabase, env, { command: true });
    const dataFolder = engine() === 'postgres' ? newFolder() : testDatabase.dataDirectory;
    await expectSameKeys(first, await start(testDatabase, env, { dataDirectory: dataFolder }));
    expect(existsSync(join(dataFolder, 'keys'))).toBe(false);
    await expect(start(testDatabase)).rejects.toMatchObject({
      expected: masterKeyFingerprint(first.masterKey),
      actual: undefined,
    });
  });

  it.each([16, 31, 33, 64])('a key of %i bytes is rejected without repeating it', (length) => {
    const text = randomBytes(length).toString('base64');
    const load = () => loadConfig({}, { ASSAY_MASTER_KEY: text });
    expect(load).toThrow(/^ASSAY_MASTER_KEY must be 32 bytes in base64\. /);
    expect(load).not.toThrow(text);
  });

  it.each(['hex', 'latin1'] as const)('32 bytes as %s are rejected', (encoding) => {
    const text = Buffer.alloc(32, 'abcdefg!').toString(encoding);
    expect(() => loadConfig({}, { ASSAY_MASTER_KEY: text })).toThrow('32 bytes in base64');
  });

  it('both alphabets of base64 are accepted, with or without padding, and the key is not printed', () => {
    const bytes = Buffer.alloc(32, 0xfb);
    const texts = [bytes.toString('base64'), bytes.toString('base64url')];
    const keys = texts.map((text) => loadConfig({}, { ASSAY_MASTER_KEY: text }).masterKey);
    for (const key of keys) expect(key?.export()).toEqual(bytes);
    for (const text of texts)
      expect(JSON.stringify(loadConfig({}, { ASSAY_MASTER_KEY: text }))).not.toContain(text);
  });
});

describe('A command that fails without keys', () => {
  it('leaves the database unchanged, so that a server can initialize it', async () => {
    const testDatabase = await createTestDatabase('unmigrated');
    testDatabases.push(testDatabase);
    const command = () => start(testDatabase, {}, { command: true });
    if (engine() === 'postgres') {
      await expect(command()).rejects.toBeInstanceOf(KeysMissing);
      expect((await start(testDatabase)).appliedMigrations[0]).toBe('0001-initial');
    } else expect((await command()).appliedMigrations[0]).toBe('0001-initial');
  });
});

describe('Resealing with another master key', () => {
  const reseal = (context: Context, atHand: readonly string[], next: string) =>
    context.db.write((tx) => resealKeys(tx, cliChangeContext(Date.now()), atHand.map(keyOf), keyOf(next)));

  it('opens the same keys, and the old master key does not', async () => {
    const testDatabase = await newDatabase();
    const [before, after] = [newText(), newText()];
    const first = await start(testDatabase, { ASSAY_MASTER_KEY: before });
    const token = await first.keys.sign(claims, lifetime());
    expect(await reseal(first, [newText(), before], after)).toEqual({
      before: masterKeyFingerprint(keyOf(before)),
      after: masterKeyFingerprint(keyOf(after)),
    });
    const next = await start(testDatabase, { ASSAY_MASTER_KEY: after });
    expect(await next.keys.verify(token, Date.now())).toMatchObject(claims);
    await expectSameKeys(first, next);
    await expect(start(testDatabase, { ASSAY_MASTER_KEY: before })).rejects.toBeInstanceOf(MasterKeyMismatch);
    expect(await reseal(first, [], after)).toBeUndefined();
    await expect(reseal(first, [before], newText())).rejects.toBeInstanceOf(MasterKeyMismatch);
  });

  it('lets an instance with the old one continue with its keys, and logs once what it cannot open', async () => {
    const testDatabase = await newDatabase();
    const [before, after] = [newText(), newText()];
    const lines: string[] = [];
    const old = await start(testDatabase, { ASSAY_MASTER_KEY: before }, { log: (line) => lines.push(line) });
    const token = await old.keys.sign(claims, lifetime());
    await reseal(old, [before], after);
    expect(await old.keys.verify(token, Date.now())).toMatchObject(claims);
    expect(await old.keys.verify(await old.keys.sign(claims, lifetime()), Date.now())).toMatchObject(claims);

    const rotate = async (context: Context) => {
      const key = await generateSigningKey();
      await context.db.write((tx) =>
        rotateSigningKey(tx, cliChangeContext(Date.now()), context.masterKey, key),
      );
    };
    await expect(rotate(old)).rejects.toBeInstanceOf(MasterKeyMismatch);
    const next = await start(testDatabase, { ASSAY_MASTER_KEY: after });
    for (let times = 0; times < 2; times += 1) {
      await rotate(next);
      expect(await old.keys.verify(token, Date.now())).toMatchObject(claims);
      expect(await old.keys.verify('no token', Date.now())).toBeUndefined();
      const newer = await next.keys.sign(claims, lifetime());
      const failure = await old.keys.verify(newer, Date.now()).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(MasterKeyMismatch);
      expect(toProblem(failure)).toMatchObject({
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

  it('rejects a row that was replaced with another', async () => {
    const testDatabase = await newDatabase();
    const { db, masterKey } = await start(testDatabase);
    const key = await generateSigningKey();
    await db.write((tx) => rotateSigningKey(tx, cliChangeContext(Date.now()), masterKey, key));
    const [firstKey, secondKey] = await db.read.selectFrom('signing_keys').selectAll().execute();
    await db.write((tx) =>
      tx
        .updateTable('signing_keys')
        .set({ sealed_key: firstKey?.sealed_key ?? '' })
        .where('kid', '=', secondKey?.kid ?? '')
        .execute(),
    );
    await expect(start(testDatabase)).rejects.toThrow(/^The signing key \S+ in the database was changed\.$/);
  });
});
