import { existsSync, readFileSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DemoManifest } from '../../src/demo/manifest.ts';
import { createFormClient } from '../harness/form-client.ts';
import { isInstalled } from '../harness/machine.ts';
import { engine, send } from '../harness/server.ts';
import { type CommandLine, type RunningServe, startCommandLine } from './command-line.ts';

/** Milliseconds for which a server keeps an idle connection (`keepAliveTimeout` in `src/app.ts`). */
const KEEP_ALIVE = 72_000;
const lines = (text: string) => text.split('\n').filter((line) => line !== '');
const logged = (text: string) => lines(text).filter((line) => line.startsWith('{'));
const curlCommands = (server: RunningServe) =>
  lines(server.output()).filter((line) => line.startsWith('curl '));
const health = (server: RunningServe) => send(server.origin, 'GET', '/readyz').then(({ status }) => status);
const manifestOf = (data: string) =>
  JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8')) as DemoManifest;

describe.runIf(engine() === 'postgres')('assay serve on an empty database', () => {
  let assay: CommandLine;
  let data: string;
  beforeAll(async () => {
    assay = await startCommandLine();
    data = assay.database.dataDirectory;
  });
  afterAll(() => assay.close());

  it('loads demo data once if two start at the same time, and prints it', async () => {
    const [server, otherServer] = await Promise.all([assay.serve(), assay.serve()]);
    const manifest = manifestOf(data);
    for (const { origin } of [server, otherServer]) {
      const path = `/v1/assessments/${manifest.assessment.uid}/testing_hours`;
      const token = manifest.users.member.token ?? '';
      expect((await send(origin, 'GET', path, { token })).status).toBe(200);
    }
    expect(await assay.json('organization', 'list')).toHaveLength(2);
    expect((await otherServer.stop()).code).toBe(0);

    expect(statSync(join(data, 'demo.json')).mode & 0o777).toBe(0o600);
    await expect.poll(() => curlCommands(server)).toHaveLength(3);
    const output = server.output();
    expect(output).toContain(`${server.origin}/docs`);
    const { admin, member, outsider, staff } = manifest.users;
    expect(output).toMatch(new RegExp(`Sign in: +${server.origin}/$`, 'm'));
    for (const { email, password, token } of [admin, member, outsider, staff]) {
      expect(output).toMatch(new RegExp(`${email} +${password} +${token}$`, 'm'));
    }
    // The password that is printed is enough.
    const signedIn = await createFormClient(server).signIn(staff.email, staff.password ?? '');
    expect(signedIn.location).toBe(`${server.origin}/`);
    for (const command of isInstalled('curl') ? curlCommands(server) : []) {
      const { code, stdout } = await assay.shell(`${command} --fail-with-body`);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\{.*\}\n$/) });
    }
    const { code, stdout } = await server.stop();
    expect(code).toBe(0);
    for (const line of logged(stdout)) {
      for (const { password, token } of [admin, member, outsider, staff]) {
        expect(line).not.toContain(password);
        expect(line).not.toContain(token);
      }
      expect(line).not.toContain(manifest.oauthClients.confidential.client_secret);
    }
  });

  it('updates the redirect URI of the manifest when it starts again, and serves the given areas', async () => {
    const manifest = manifestOf(data);
    const server = await assay.serve('--areas', 'assessment,streaming');
    const { implicit, confidential } = manifest.oauthClients;
    const redirect_uri = `${server.origin}/docs/oauth2-redirect.html`;
    expect(redirect_uri).not.toBe(implicit.redirect_uri);
    const updated = { ...manifest, oauthClients: { implicit: { ...implicit, redirect_uri }, confidential } };
    expect(manifestOf(data)).toEqual(updated);
    expect(statSync(join(data, 'demo.json')).mode & 0o777).toBe(0o600);
    expect(await assay.json('demo')).toEqual(updated);

    const statusOf = (path: string) => send(server.origin, 'GET', path).then(({ status }) => status);
    expect(await statusOf('/api/assessment/v1/assessment-groups/1/members')).toBe(401);
    expect(await statusOf('/v1/assessments/x/testing_hours')).toBe(404);
    await expect.poll(() => curlCommands(server)).toHaveLength(2);
    await server.stop();
  });
});

describe('assay serve on a database with an organization', () => {
  let assay: CommandLine;
  let data: string;
  let server: RunningServe;
  beforeAll(async () => {
    assay = await startCommandLine();
    data = assay.database.dataDirectory;
    await assay.json('organization', 'create', 'acme', '--name', 'Acme');
    server = await assay.serve();
  });
  afterAll(() => assay.close());

  const statusFor = (token: string) =>
    send(server.origin, 'GET', '/v1/assessments/web/testing_hours', { token }).then(({ status }) => status);

  it('loads no demo data', async () => {
    expect(await health(server)).toBe(200);
    expect(server.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(existsSync(join(data, 'demo.json'))).toBe(false);
    expect(await assay.json('organization', 'list')).toHaveLength(1);
  });

  it('serves the operations of all files in src/api', async () => {
    const { body } = await send(server.origin, 'GET', '/openapi.json');
    const described = readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8');
    expect(Object.keys(body.paths)).toEqual(Object.keys(JSON.parse(described).paths));
  });

  it('requires a second factor of staff', async () => {
    const { invite_url } = await assay.json('user', 'create', '--email', 'eve@example.com', '--staff');
    const visitor = createFormClient(server);
    const { pathname, search } = new URL(invite_url);
    const page = await visitor.open(pathname + search);
    const fields = { name: 'Eve', password: 'correct horse battery staple' };
    const accepted = await visitor.submit(page, fields, '/invitation');
    expect(accepted.location).toContain('/sign-in/second-factor');
  });

  it('accepts users and tokens at once that commands create, and rejects what they revoke', async () => {
    await assay.json('assessment', 'create', 'web', '--organization', 'acme', '--name', 'Web');
    await assay.json('user', 'create', '--email', 'ada@example.com', '--organization', 'acme', '--admin');
    await assay.json('user', 'create', '--email', 'bob@example.com', '--organization', 'acme', '--admin');
    const personal = await assay.json('token', 'create', '--user', 'ada@example.com');
    const jwt = await assay.json('token', 'create', '--user', 'ada@example.com', '--jwt');
    const otherToken = await assay.json('token', 'create', '--user', 'bob@example.com');
    for (const { token } of [personal, jwt, otherToken]) expect(await statusFor(token)).toBe(200);

    await assay.json('token', 'revoke', personal.token);
    expect(await statusFor(personal.token)).toBe(401);
    expect(await statusFor(jwt.token)).toBe(200);
    await assay.json('user', 'ban', 'ada@example.com');
    expect(await statusFor(jwt.token)).toBe(401);
    expect(await statusFor(otherToken.token)).toBe(200);
  });

  it('on SIGTERM accepts no more requests, completes running ones, and exits with 0', async () => {
    const { token } = await assay.json('token', 'create', '--user', 'bob@example.com');
    const body = JSON.stringify({ status_id: 5 });
    const running = request(`${server.origin}/v1/vulnerabilities/1`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': body.length,
        // The interim response shows that the server has received the request.
        expect: '100-continue',
      },
    });
    running.flushHeaders();
    await once(running, 'continue');
    running.write(body.slice(0, 5));
    const stopped = server.stop();
    await expect.poll(() => health(server).catch(() => 'refused')).toBe('refused');
    running.end(body.slice(5));
    const [response] = (await once(running, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(404);
    const respondedAt = Date.now();
    response.resume();
    const { code, stdout, stderr } = await stopped;
    // A copy of the migrated template is not new.
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // It does not wait for the client to close its idle connection.
    expect(Date.now() - respondedAt).toBeLessThan(KEEP_ALIVE);
    expect(lines(stdout).filter((line) => !line.startsWith('{'))).toEqual([
      `assay listening on ${server.origin}`,
    ]);
    for (const line of logged(stdout)) expect(JSON.parse(line)).toHaveProperty('time');
  });
});

describe('A command without a database', () => {
  let assay: CommandLine;
  let data: string;
  beforeAll(async () => {
    assay = await startCommandLine();
    data = assay.database.dataDirectory;
  });
  afterAll(() => assay.close());

  it.runIf(engine() === 'sqlite')('creates one if it creates an organization', async () => {
    const newFolder = join(data, 'fresh');
    const args = ['organization', 'create', 'acme', '--name', 'Acme'];
    const { code, stderr } = await assay.run(args, { data: newFolder });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `Created the database ${join(newFolder, 'assay.db')}.\n`,
    });
  });

  it.runIf(engine() === 'sqlite')(
    'otherwise fails, suggests "assay serve", and creates nothing',
    async () => {
      const mistyped = join(data, 'mistyped');
      for (const args of [
        ['organization', 'list'],
        ['vulnerability', 'list'],
        ['user', 'ban', 'ada@example.com'],
        ['keys', 'reseal'],
        ['backup', join(data, 'copy.db')],
      ]) {
        const { code, stdout, stderr } = await assay.run(args, { data: mistyped });
        expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
        expect(stderr).toBe(
          `assay: No database found in ${mistyped}. Choose a data directory with --data or a server with --server, or run "assay serve" to create a database.\n`,
        );
        expect(existsSync(mistyped)).toBe(false);
      }
    },
  );

  it.runIf(engine() === 'postgres')('fails and names the database', async () => {
    const url = new URL(assay.database.databaseUrl ?? '');
    url.pathname = '/nosuchdatabase';
    const { code, stderr } = await assay.run(['organization', 'list'], {
      env: { ASSAY_DATABASE_URL: url.href },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^assay: PostgreSQL at \S+ has no database "nosuchdatabase"\. .*\n$/);
  });
});

describe.runIf(engine() === 'sqlite')('assay backup on SQLite', () => {
  let assay: CommandLine;
  let data: string;
  beforeAll(async () => {
    assay = await startCommandLine('demo');
    data = assay.database.dataDirectory;
  });
  afterAll(() => assay.close());

  it('copies the database while a server writes to it', async () => {
    const server = await assay.serve('--no-demo');
    const { users, vulnerability } = manifestOf(data);
    const token = users.admin.token ?? '';
    let writing = true;
    const writer = (async () => {
      for (let status = 1; writing; status = (status % 9) + 1) {
        const path = `/v1/vulnerabilities/${vulnerability.id}`;
        const response = await send(server.origin, 'PATCH', path, { token, body: { status_id: status } });
        expect(response.status).toBe(200);
      }
    })();
    const file = join(data, 'copy.db');
    expect(await assay.json('backup', file)).toEqual({ file });
    writing = false;
    await writer;

    const repeated = await assay.run(['backup', file]);
    expect(repeated.code).toBe(1);
    expect(repeated.stderr).toMatch(/^assay: .*copy\.db already exists\. .*\n$/);
    // With --no-demo, the accounts of existing demo data are not printed.
    expect((await server.stop()).stdout).not.toContain(token);

    const folder = join(data, 'elsewhere');
    await assay.shell(`mkdir '${folder}' && cp '${file}' '${folder}/assay.db'`);
    const withoutKey = await assay.run(['user', 'list', '--json'], { data: folder });
    expect(withoutKey).toMatchObject({ code: 1, stdout: '' });
    expect(withoutKey.stderr).toMatch(/^assay: .*[Kk]ey.*\n$/);
    await assay.shell(`mkdir -p '${folder}/keys' && cp '${data}/keys/master.key' '${folder}/keys/'`);
    const { stdout } = await assay.run(['user', 'list', '--json'], { data: folder });
    expect(JSON.parse(stdout)).toEqual(await assay.json('user', 'list'));
  });

  it('fails without a database and creates none', async () => {
    const missing = join(data, 'missing');
    const { code, stderr } = await assay.run(['backup', join(data, 'none.db')], { data: missing });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^assay: No database found in .*missing\. .*\n$/);
    expect(existsSync(missing)).toBe(false);
  });

  it('fails if it cannot write the copy', async () => {
    const { code, stderr } = await assay.run(['backup', join(data, 'no', 'folder', 'copy.db')]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^assay: Cannot write .*copy\.db .*\n$/);
  });
});

it.runIf(engine() === 'postgres')('assay backup on PostgreSQL refers to pg_dump', async () => {
  const assay = await startCommandLine();
  const { code, stderr } = await assay.run(['backup', join(assay.database.dataDirectory, 'copy.db')]);
  await assay.close();
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('pg_dump') });
});
