import { existsSync, readFileSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DemoManifest } from '../../src/demo/manifest.ts';
import { engine, send } from '../harness/server.ts';
import { type CommandLine, type RunningServe, startCommandLine } from './command-line.ts';

let assay: CommandLine;
let data: string;
beforeEach(async () => {
  assay = await startCommandLine();
  data = assay.database.dataDirectory;
});
afterEach(() => assay.close());

const lines = (text: string) => text.split('\n').filter((line) => line !== '');
const logged = (text: string) => lines(text).filter((line) => line.startsWith('{'));
const health = (server: RunningServe) => send(server.origin, 'GET', '/readyz').then(({ status }) => status);

/** Starts two servers at the same time on an empty database, of which one loads the demo data. */
async function serveTwice(): Promise<[RunningServe, RunningServe]> {
  const servers = await Promise.all([assay.serve(), assay.serve()]);
  const manifest = JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8')) as DemoManifest;
  for (const { origin } of servers) {
    const path = `/v1/assessments/${manifest.assessment.uid}/testing_hours`;
    const token = manifest.users.member.token ?? '';
    expect((await send(origin, 'GET', path, { token })).status).toBe(200);
  }
  expect(await assay.json('organization', 'list')).toHaveLength(2);
  return servers;
}

describe('assay serve', () => {
  it.runIf(engine() === 'sqlite')('says where a new database is', async () => {
    const fresh = join(data, 'fresh');
    const args = ['organization', 'create', 'acme', '--name', 'Acme'];
    const { code, stderr } = await assay.run(args, { data: fresh });
    expect({ code, stderr }).toEqual({ code: 0, stderr: `Created database ${join(fresh, 'assay.db')}\n` });
  });

  it.runIf(engine() === 'sqlite')(
    'is what a command wants that makes no database, and leaves nothing',
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

  it.runIf(engine() === 'sqlite')('accepts nothing more on SIGTERM, and finishes what runs', async () => {
    await assay.json('user', 'create', '--email', 'ada@example.com', '--staff');
    const { token } = await assay.json('token', 'create', '--user', 'ada@example.com');
    const server = await assay.serve('--no-demo');
    const body = JSON.stringify({ status_id: 5 });
    const running = request(`${server.origin}/v1/vulnerabilities/1`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': body.length,
        // The answer to it tells that the server has begun with the request.
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
    const answered = Date.now();
    response.resume();
    expect((await stopped).code).toBe(0);
    // Not only once the client has closed the connection that it keeps.
    expect(Date.now() - answered).toBeLessThan(4_000);
  });

  it.runIf(engine() === 'sqlite')(
    'loads demo data into an empty database, started twice at the same time, and greets with it',
    { timeout: 90_000 },
    async () => {
      const [server, other] = await serveTwice();
      expect((await other.stop()).code).toBe(0);
      const file = join(data, 'demo.json');
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const manifest = JSON.parse(readFileSync(file, 'utf8')) as DemoManifest;
      await expect
        .poll(() => lines(server.output()).filter((line) => line.startsWith('curl ')))
        .toHaveLength(3);
      const output = server.output();
      expect(output).toContain(`${server.origin}/docs`);
      const { admin, member, outsider, staff } = manifest.users;
      expect(output).toMatch(new RegExp(`Sign in: +${server.origin}/$`, 'm'));
      for (const { email, password, token } of [admin, member, outsider, staff]) {
        expect(output).toMatch(new RegExp(`${email} +${password} +${token}$`, 'm'));
      }
      for (const command of lines(output).filter((line) => line.startsWith('curl '))) {
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

      const again = await assay.serve();
      const { implicit, confidential } = manifest.oauthClients;
      const redirect_uri = `${again.origin}/docs/oauth2-redirect.html`;
      const same = { ...manifest, oauthClients: { implicit: { ...implicit, redirect_uri }, confidential } };
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(same);
      expect(await assay.json('demo')).toEqual(same);
      await again.stop();
      const silent = await assay.serve('--no-demo');
      expect((await silent.stop()).stdout).not.toContain(admin.token);
    },
  );

  it('loads no demo data beside an organization', async () => {
    await assay.json('organization', 'create', 'acme', '--name', 'Acme');
    const server = await assay.serve();
    expect((await server.stop()).stdout).not.toContain('curl');
    expect(existsSync(join(data, 'demo.json'))).toBe(false);
    expect(await assay.json('organization', 'list')).toHaveLength(1);
  });

  it.runIf(engine() === 'postgres')(
    'may be started twice at the same time on an empty database',
    { timeout: 90_000 },
    async () => {
      for (const server of await serveTwice()) expect((await server.stop()).code).toBe(0);
    },
  );
});

describe('commands on a database that a server has open', () => {
  it('make users and tokens that work at once; it says where it listens, logs JSON, and ends with 0 on SIGTERM', async () => {
    const server = await assay.serve('--no-demo');
    expect(await health(server)).toBe(200);
    expect(await assay.json('organization', 'list')).toEqual([]);
    await assay.json('organization', 'create', 'acme', '--name', 'Acme');
    await assay.json('assessment', 'create', 'web', '--organization', 'acme', '--name', 'Web');
    const statusFor = (token: string) =>
      send(server.origin, 'GET', '/v1/assessments/web/testing_hours', { token }).then(({ status }) => status);
    await assay.json('user', 'create', '--email', 'ada@example.com', '--organization', 'acme', '--admin');
    await assay.json('user', 'create', '--email', 'bob@example.com', '--organization', 'acme', '--admin');
    const personal = await assay.json('token', 'create', '--user', 'ada@example.com');
    const jwt = await assay.json('token', 'create', '--user', 'ada@example.com', '--jwt');
    const other = await assay.json('token', 'create', '--user', 'bob@example.com');
    for (const { token } of [personal, jwt, other]) expect(await statusFor(token)).toBe(200);

    await assay.json('token', 'revoke', personal.token);
    expect(await statusFor(personal.token)).toBe(401);
    expect(await statusFor(jwt.token)).toBe(200);
    await assay.json('user', 'ban', 'ada@example.com');
    expect(await statusFor(jwt.token)).toBe(401);
    expect(await statusFor(other.token)).toBe(200);

    const { code, stdout, stderr } = await server.stop();
    expect(code).toBe(0);
    // A copy of the migrated template is not new.
    expect(stderr).toBe('');
    const plain = lines(stdout).filter((line) => !line.startsWith('{'));
    expect(plain[0]).toBe(`assay listening on ${server.origin}`);
    expect(server.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    for (const line of logged(stdout)) expect(JSON.parse(line)).toHaveProperty('time');
    expect(existsSync(join(data, 'demo.json'))).toBe(false);
    expect(await assay.json('organization', 'list')).toHaveLength(1);
  });

  it.runIf(engine() === 'postgres')('say so when the database is not there', async () => {
    const url = new URL(assay.database.databaseUrl ?? '');
    url.pathname = '/nosuchdatabase';
    const { code, stderr } = await assay.run(['organization', 'list'], {
      env: { ASSAY_DATABASE_URL: url.href },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^assay: PostgreSQL at \S+ has no database "nosuchdatabase"\. .*\n$/);
  });
});

describe('assay backup', () => {
  it.runIf(engine() === 'sqlite')('copies the database while a server writes to it', async () => {
    await assay.close();
    assay = await startCommandLine('demo');
    data = assay.database.dataDirectory;
    const server = await assay.serve();
    const { users, vulnerability } = JSON.parse(
      readFileSync(join(data, 'demo.json'), 'utf8'),
    ) as DemoManifest;
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

    const again = await assay.run(['backup', file]);
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/^assay: .*copy\.db already exists\. .*\n$/);
    await server.stop();

    const folder = join(data, 'elsewhere');
    await assay.shell(`mkdir '${folder}' && cp '${file}' '${folder}/assay.db'`);
    const withoutKey = await assay.run(['user', 'list', '--json'], { data: folder });
    expect(withoutKey).toMatchObject({ code: 1, stdout: '' });
    expect(withoutKey.stderr).toMatch(/^assay: .*[Kk]ey.*\n$/);
    await assay.shell(`mkdir -p '${folder}/keys' && cp '${data}/keys/master.key' '${folder}/keys/'`);
    const { stdout } = await assay.run(['user', 'list', '--json'], { data: folder });
    expect(JSON.parse(stdout)).toEqual(await assay.json('user', 'list'));
  });

  it.runIf(engine() === 'sqlite')('makes no database where there is none', async () => {
    const missing = join(data, 'missing');
    const { code, stderr } = await assay.run(['backup', join(data, 'copy.db')], { data: missing });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^assay: No database found in .*missing\. .*\n$/);
    expect(existsSync(missing)).toBe(false);
  });

  it.runIf(engine() === 'sqlite')('says when it cannot write the copy', async () => {
    await assay.run(['migrate']);
    const { code, stderr } = await assay.run(['backup', join(data, 'no', 'folder', 'copy.db')]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^assay: Cannot write .*copy\.db .*\n$/);
  });

  it.runIf(engine() === 'postgres')('points to the tools of PostgreSQL', async () => {
    const { code, stderr } = await assay.run(['backup', join(data, 'copy.db')]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('pg_dump') });
  });
});
