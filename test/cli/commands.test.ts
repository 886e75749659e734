import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/db/open-database.ts';
import { engine } from '../harness/server.ts';
import { startCommandLine } from './command-line.ts';

const assay = await startCommandLine();
beforeAll(async () => {
  await assay.json('organization', 'create', 'acme', '--name', 'Acme Corporation');
});
afterAll(() => assay.close());

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const PERSONAL = /^assay_[0-9A-Za-z]{42}$/;

let counter = 0;
const nextEmail = () => `user${(counter += 1)}@example.com`;
const newUser = (...args: string[]) => assay.json('user', 'create', '--email', nextEmail(), ...args);
const listedUser = async (email: string) =>
  (await assay.json('user', 'list')).find((user: { email: string }) => user.email === email);

async function expectRefusal(args: readonly string[], code: number, message: string | RegExp): Promise<void> {
  const finished = await assay.run(args);
  expect({ code: finished.code, stdout: finished.stdout }).toEqual({ code, stdout: '' });
  expect(finished.stderr).toMatch(/^assay: .*\n$/);
  expect(finished.stderr).toMatch(message);
}

describe('assay migrate', () => {
  it('applies pending migrations once', async () => {
    expect(await assay.json('migrate')).toEqual({ applied: [] });
    expect((await assay.run(['migrate'])).stdout).toBe('The database is up to date.\n');
  });

  it.runIf(engine() === 'sqlite')('prints the applied migrations', async () => {
    const data = `${assay.database.dataDirectory}/fresh`;
    const { code, stdout } = await assay.run(['migrate'], { data });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Applied 0001-initial\.$/m);
  });
});

describe('A database that this version cannot migrate', () => {
  it.each([
    [
      "insert into migrations (name, checksum) values ('9999-later', '')",
      'has the migration 9999-later, which this version does not know. Run a newer version of Assay.',
    ],
    [
      'alter table migrations drop column checksum',
      'was created by a version before 0.1.0, whose data cannot be migrated. Start with a new database, or keep running that version.',
    ],
  ])('stops serve and every command: %s', async (change, problem) => {
    const commandLine = await startCommandLine();
    const { dataDirectory, databaseUrl } = commandLine.database;
    const db = await openDatabase({ ...commandLine.database, timeout: 30_000 });
    await db.write((tx) => sql.raw(change).execute(tx));
    await db.close();
    const location =
      databaseUrl === undefined
        ? join(dataDirectory, 'assay.db')
        : `${new URL(databaseUrl).host}${new URL(databaseUrl).pathname}`;
    const stderr = `assay: The database ${location} ${problem} Nothing was changed.\n`;
    for (const args of [
      ['serve', '--port', '0'],
      ['migrate'],
      ['demo'],
      ['user', 'list'],
      ['organization', 'create', 'acme', '--name', 'Acme'],
      ['keys', 'rotate'],
      ['keys', 'reseal'],
    ])
      expect({ args, ...(await commandLine.run(args)) }).toEqual({ args, code: 1, stdout: '', stderr });
    expect(existsSync(join(dataDirectory, 'keys'))).toBe(false);
    await commandLine.close();
  });
});

describe('assay organization', () => {
  it('creates and lists organizations', async () => {
    const created = await assay.json('organization', 'create', 'umbra', '--name', ' Umbra ');
    expect(created).toEqual({ id: expect.any(Number), uid: 'umbra', name: 'Umbra' });
    const listed = { ...created, second_factor: 'optional', dismissal_role: 'assessment_member' };
    expect(await assay.json('organization', 'list')).toContainEqual(listed);
    const { stdout } = await assay.run(['organization', 'list']);
    expect(stdout).toMatch(/^ID +UID +NAME +SECOND FACTOR +DISMISSAL ROLE$/m);
    expect(stdout).toMatch(new RegExp(`^${created.id} +umbra +Umbra +optional +assessment_member$`, 'm'));
  });

  it('rejects a name on two lines', () =>
    expectRefusal(
      ['organization', 'create', 'lines', '--name', 'two\nlines'],
      2,
      'must not contain line breaks, other control characters or unpaired surrogates',
    ));

  it('rejects a uid that is taken', () =>
    expectRefusal(['organization', 'create', 'acme', '--name', 'Again'], 1, 'The uid acme is already taken'));

  it('makes the second factor required or optional', async () => {
    const created = await assay.json('organization', 'create', 'strict', '--name', 'Strict');
    const update = ['organization', 'update', 'strict'];
    const required = { ...created, second_factor: 'required', dismissal_role: 'assessment_member' };
    expect(await assay.json(...update, '--require-second-factor')).toEqual(required);
    expect(await assay.json('organization', 'list')).toContainEqual(required);
    expect((await assay.run([...update, '--no-require-second-factor'])).stdout).toBe(
      'Second factors are now optional in strict.\n',
    );
    await expectRefusal(update, 2, 'Specify --require-second-factor');
    await expectRefusal(['organization', 'update', 'nobody', '--require-second-factor'], 1, 'not found');
  });

  it('sets the dismissal role', async () => {
    await assay.json('organization', 'create', 'narrow', '--name', 'Narrow');
    const update = ['organization', 'update', 'narrow', '--dismissal-role'];
    expect((await assay.run([...update, 'admin'])).stdout).toBe(
      'The dismissal role of narrow is now admin.\n',
    );
    expect(await assay.json(...update, 'assessment_operator', '--require-second-factor')).toMatchObject({
      second_factor: 'required',
      dismissal_role: 'assessment_operator',
    });
    await expectRefusal([...update, 'nobody'], 2, 'Allowed choices are assessment_member');
  });

  it('replaces control characters in its output', async () => {
    await assay.json('organization', 'create', 'escape', '--name', 'Escape');
    // A name from before the rule for names.
    const db = await openDatabase({ ...assay.database, timeout: 30_000 });
    await db.write((tx) =>
      tx.updateTable('organizations').set({ name: 'a\u001b[2Jb' }).where('uid', '=', 'escape').execute(),
    );
    await db.close();
    const { stdout } = await assay.run(['organization', 'list']);
    expect(stdout).toContain('[2Jb');
    expect(stdout).not.toContain('\u001b');
  });

  it('groups organizations', async () => {
    const created = await assay.json('organization', 'group', 'create', 'holding', '--name', 'Holding');
    expect(created).toEqual({ id: expect.any(Number), uid: 'holding', name: 'Holding' });
    const add = ['organization', 'group', 'add', 'holding', 'acme'];
    expect(await assay.json(...add)).toEqual({ group: 'holding', organization: 'acme' });
    expect(await assay.json(...add)).toEqual({ group: 'holding', organization: 'acme' });
    expect(await assay.json('organization', 'group', 'list')).toEqual([
      { ...created, organizations: ['acme'] },
    ]);
    expect(await assay.json('organization', 'list')).not.toContainEqual(created);
    await expectRefusal(['organization', 'group', 'add', 'nogroup', 'acme'], 1, 'Group "nogroup" not found');
    await expectRefusal(
      ['organization', 'group', 'add', 'holding', 'noorg'],
      1,
      'Organization "noorg" not found',
    );
    await expectRefusal(
      ['organization', 'group', 'create', 'acme', '--name', 'x'],
      1,
      'acme is already taken',
    );
  });
});

describe('assay assessment', () => {
  it('creates and lists assessments', async () => {
    const created = await assay.json(
      'assessment',
      'create',
      'web_2026-1',
      '--organization',
      'acme',
      '--name',
      'Web',
    );
    expect(created).toEqual({ id: expect.any(Number), uid: 'web_2026-1', name: 'Web', organization: 'acme' });
    expect(await assay.json('assessment', 'list')).toEqual([created]);
    const newAssessment = await assay.json(
      'assessment',
      'create',
      '--organization',
      'acme',
      '--name',
      'Made up',
    );
    expect(newAssessment).toMatchObject({ uid: expect.stringMatching(/^[0-9a-z]{10}$/), name: 'Made up' });
    expect((await assay.run(['assessment', 'list'])).stdout).toMatch(/web_2026-1 +acme +Web$/m);
  });

  it.each([
    [['web_2026-1', '--organization', 'acme'], 1, 'web_2026-1 already'],
    [['other', '--organization', 'nobody'], 1, 'Organization "nobody" not found'],
    [
      ['Upper', '--organization', 'acme'],
      2,
      'UID must be 1 to 50 lowercase letters, digits, - and _, not "Upper"',
    ],
  ])('fails with %j', (args, code, message) =>
    expectRefusal(['assessment', 'create', ...args, '--name', 'x'], code, message),
  );
});

describe('assay user', () => {
  it('invites a user of an organization', async () => {
    const created = await newUser('--organization', 'acme', '--admin', '--name', 'Ada');
    expect(created).toEqual({
      id: expect.any(Number),
      uid: expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/),
      email: expect.stringMatching(/@example\.com$/),
      invite_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8080\/\S+$/),
    });
    const { invite_url: _link, ...user } = created;
    expect(await listedUser(created.email)).toEqual({
      ...user,
      organization: 'acme',
      admin: true,
      staff: false,
      banned: false,
      invited: true,
      second_factor: false,
    });
  });

  it('prints the assumed URL of the link, unless it is configured or the output is JSON', async () => {
    const create = (env: Record<string, string>, ...args: string[]) =>
      assay.run(['user', 'create', '--email', nextEmail(), '--staff', ...args], { env });
    const assumed = await create({ PORT: '9000' });
    expect(assumed.stdout).toContain('http://127.0.0.1:9000/');
    expect(assumed.stderr).toBe(
      'The link assumes that the server is at http://127.0.0.1:9000. If not, set ASSAY_CLIENT_BASE_URL.\n',
    );
    const set = await create({ ASSAY_CLIENT_BASE_URL: 'https://assay.example.com' });
    expect(set.stdout).toContain('https://assay.example.com/');
    expect(set.stderr).toBe('');
    expect((await create({}, '--json')).stderr).toBe('');
  });

  it('invites staff for all or some organizations', async () => {
    const everywhere = await newUser('--staff');
    const somewhere = await newUser('--staff', '--assign', 'acme', 'umbra');
    for (const { email } of [everywhere, somewhere]) {
      expect(await listedUser(email)).toMatchObject({ organization: null, staff: true, invited: true });
    }
    await expectRefusal(
      ['user', 'create', '--email', nextEmail(), '--staff', '--assign', 'acme', 'nobody'],
      1,
      'Organization "nobody" not found',
    );
  });

  it('rejects an email address that is taken and an unknown organization', async () => {
    const { email } = await newUser('--organization', 'acme');
    const create = ['user', 'create', '--email'];
    await expectRefusal([...create, email.toUpperCase(), '--organization', 'acme'], 1, 'already');
    await expectRefusal(
      [...create, nextEmail(), '--organization', 'nobody'],
      1,
      'Organization "nobody" not found',
    );
  });

  it('resets second factors', async () => {
    const { invite_url: _link, ...user } = await newUser('--staff');
    const removed = { totp: false, passkeys: 0, recovery_codes: 0 };
    expect(await assay.json('user', 'reset-second-factor', user.email)).toEqual({ ...user, removed });
    expect((await assay.run(['user', 'reset-second-factor', user.email])).stdout).toBe(
      `${user.email} had no second factor.\n`,
    );
    await expectRefusal(['user', 'reset-second-factor', 'nobody@example.com'], 1, 'not found');
  });

  it('bans by email address, id and uid, and deletes invited users', async () => {
    await newUser('--organization', 'acme', '--admin');
    for (const field of ['email', 'id', 'uid']) {
      const { invite_url: _link, ...user } = await newUser('--organization', 'acme');
      await assay.json('token', 'create', '--user', user.email);
      const banned = { ...user, banned: true, deleted: false };
      expect(await assay.json('user', 'ban', String(user[field]))).toEqual(banned);
      expect(await assay.json('user', 'ban', String(user[field]))).toEqual(banned);
      expect(await listedUser(user.email)).toMatchObject({ banned: true });
      await expectRefusal(['token', 'create', '--user', user.email], 1, 'is banned');
    }
    const { email } = await newUser('--organization', 'acme');
    expect(await assay.json('user', 'ban', email)).toMatchObject({ deleted: true });
    expect(await listedUser(email)).toBeUndefined();
    await expectRefusal(['user', 'ban', email], 1, 'not found');
  });

  it('ignores the case of email addresses', async () => {
    const email = nextEmail();
    const { id } = await assay.json(
      'user',
      'create',
      '--email',
      email.toUpperCase(),
      '--organization',
      'acme',
    );
    await assay.json('token', 'create', '--user', ` ${email} `);
    expect(await assay.json('user', 'ban', email)).toMatchObject({ id, deleted: false });
  });

  it.each(['0', '999999999', '99999999999999999999', 'unobody', 'nobody@example.com', ' '])(
    'says that there is no user "%s"',
    (user) => expectRefusal(['user', 'ban', user], 1, `User "${user}" not found`),
  );

  it('does not ban the last admin', async () => {
    await assay.json('organization', 'create', 'lonely', '--name', 'Lonely');
    const { email } = await newUser('--organization', 'lonely', '--admin');
    await expectRefusal(['user', 'ban', email], 1, 'last admin');
  });
});

describe('assay token', () => {
  it('creates a personal access token with all scopes of the account', async () => {
    const { email, id } = await newUser('--organization', 'acme');
    const token = await assay.json('token', 'create', '--user', String(id));
    expect(token).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      token: expect.stringMatching(PERSONAL),
      expires_at: null,
    });
    expect(await listedUser(email)).toMatchObject({ invited: true });
    const listed = (await assay.json('token', 'list')).find((entry: { id: string }) => entry.id === token.id);
    expect(listed).toEqual({
      id: token.id,
      name: null,
      kind: 'personal',
      user: email,
      scopes: 'api tag_lw tag_lr asset_client_lw asset_lr',
      allowed_addresses: [],
      created_at: expect.stringMatching(DATE),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      last_used_from: null,
      made_by: null,
    });
    for (const args of [
      ['token', 'list'],
      ['token', 'list', '--json'],
    ]) {
      expect((await assay.run(args)).stdout).not.toContain(token.token);
    }
  });

  it('sets the given name', async () => {
    const { email } = await newUser('--organization', 'acme');
    const { id } = await assay.json('token', 'create', '--user', email, '--name', ' nightly sync ');
    const listed = (await assay.json('token', 'list')).find((entry: { id: string }) => entry.id === id);
    expect(listed).toMatchObject({ name: 'nightly sync', user: email });
    expect((await assay.run(['token', 'list'])).stdout).toMatch(/^ID +NAME +KIND/);
    expect(await assay.run(['token', 'create', '--user', email, '--name', ' '])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--name'),
    });
  });

  it.each([
    ['90s', 90],
    ['15m', 900],
    ['1h', 3_600],
    ['30d', 2_592_000],
  ])('creates one that expires after %s', async (text, seconds) => {
    const { email } = await newUser('--organization', 'acme');
    const before = Date.now();
    const { expires_at } = await assay.json('token', 'create', '--user', email, '--expires', text);
    expect(expires_at).toMatch(DATE);
    expect(Date.parse(expires_at)).toBeGreaterThanOrEqual(before + seconds * 1_000);
    expect(Date.parse(expires_at)).toBeLessThanOrEqual(Date.now() + seconds * 1_000);
  });

  it('creates one that only reads', async () => {
    const { email } = await newUser('--staff');
    const { id } = await assay.json('token', 'create', '--user', email, '--scopes', 'api_read tag_gr');
    expect(await assay.json('token', 'list')).toContainEqual(
      expect.objectContaining({ id, scopes: 'api_read tag_gr' }),
    );
  });

  it('creates one with some scopes, for some addresses', async () => {
    const { email } = await newUser('--organization', 'acme');
    const args = ['--scopes', 'api tag_lw', '--allow-ip', '10.0.0.0/8', '::1'];
    const { id } = await assay.json('token', 'create', '--user', email, ...args);
    expect(await assay.json('token', 'list')).toContainEqual(
      expect.objectContaining({ id, scopes: 'api tag_lw', allowed_addresses: ['10.0.0.0/8', '::1'] }),
    );
  });

  it('creates a JWT, for one hour by default', async () => {
    const { email, uid } = await newUser('--organization', 'acme', '--admin');
    const hour = await assay.json('token', 'create', '--user', email, '--jwt');
    const { exp, iat, ...claims } = decodeJwt(hour.token);
    expect(claims).toMatchObject({ jti: hour.id, sub: uid, org: 'acme', admin: true, staff: false });
    expect(Number(exp) - Number(iat)).toBe(3_600);
    expect(Math.floor(Date.parse(hour.expires_at) / 1_000)).toBe(exp);
    const { token } = await assay.json('token', 'create', '--user', email, '--jwt', '--expires', '90s');
    const payload = decodeJwt(token);
    expect(Number(payload.exp) - Number(payload.iat)).toBe(90);
  });

  it.each([
    [['--scopes', 'nonsense'], '--scopes "nonsense" is not a scope'],
    [['--scopes', 'api tag_gw'], '--scopes "tag_gw" is not allowed for this account'],
    [['--scopes', ' '], '--scopes must contain at least one scope'],
    [['--allow-ip', '10.0.0.0/99'], '--allow-ip must be an IP address or a CIDR block'],
  ])('fails with %j', async (args, message) => {
    const { email } = await newUser('--organization', 'acme');
    await expectRefusal(['token', 'create', '--user', email, ...args], 2, message);
  });

  it('rejects an unknown user', () =>
    expectRefusal(
      ['token', 'create', '--user', 'nobody@example.com'],
      1,
      'User "nobody@example.com" not found',
    ));

  it('revokes by id and by token', async () => {
    const { email } = await newUser('--organization', 'acme');
    for (const field of ['id', 'token']) {
      const token = await assay.json('token', 'create', '--user', email);
      expect(await assay.json('token', 'revoke', token[field])).toEqual({ id: token.id, revoked: true });
      expect(await assay.json('token', 'list')).toContainEqual(
        expect.objectContaining({ id: token.id, revoked_at: expect.stringMatching(DATE) }),
      );
    }
    const jwt = await assay.json('token', 'create', '--user', email, '--jwt');
    expect(await assay.json('token', 'revoke', jwt.id)).toEqual({ id: jwt.id, revoked: true });
    await expectRefusal(['token', 'revoke', 'nonsense'], 1, 'Token not found');
  });

  it('revokes a token from standard input', async () => {
    const { email } = await newUser('--organization', 'acme');
    const revoke = (input: string) => assay.run(['token', 'revoke', '-', '--json'], { input });
    for (const field of ['id', 'token']) {
      const token = await assay.json('token', 'create', '--user', email);
      const { code, stdout } = await revoke(`${token[field]}\n`);
      expect({ code, ...JSON.parse(stdout) }).toEqual({ code: 0, id: token.id, revoked: true });
    }
    expect(await revoke('nonsense')).toMatchObject({ code: 1, stdout: '' });
    expect(await revoke(' \n')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'assay: Standard input contains no token.\n',
    });
  });
});
