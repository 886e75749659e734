import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { startTestServer, useSharedServer } from '../harness/server.ts';
import { startCommandLine } from './command-line.ts';

const assay = await startCommandLine();
const server = await useSharedServer();
afterAll(async () => {
  await assay.close();
  await server.close();
});

const configFolder = (name: string) => join(assay.database.dataDirectory, name);
const logIn = (folder: string, ...args: string[]) =>
  assay.run(['login', ...args, '--no-browser'], { env: { XDG_CONFIG_HOME: configFolder(folder) } });

/** Starts a server that answers with the metadata of `server`, changed. */
async function startImpostor(change: (origin: string) => Record<string, unknown>): Promise<string> {
  const metadata = (await server.request('GET', '/.well-known/oauth-authorization-server')).text;
  const listener = createServer((request, response) => {
    const origin = `http://${request.headers.host}`;
    const document = JSON.parse(metadata.replaceAll(server.origin, origin)) as object;
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ ...document, ...change(origin) }));
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void listener.close());
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

/** Starts `assay login`, and returns the URL that it prints. */
async function startLogin(folder: string, ...args: string[]) {
  const login = assay.start(['login', ...args, '--no-browser'], {
    env: { XDG_CONFIG_HOME: configFolder(folder) },
  });
  const printed = () => /^http\S+$/m.exec(login.output())?.[0];
  await expect.poll(printed).toBeDefined();
  return { address: new URL(printed() ?? ''), ended: login.ended, output: login.output };
}

describe('assay login refuses', () => {
  it('RFC 8414, 3.3: a server whose metadata has the issuer of another one', async () => {
    const impostor = await startImpostor(() => ({ issuer: server.origin }));
    expect(await logIn('issuer', impostor)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`The issuer of ${impostor} is ${server.origin}, not ${impostor}.`),
    });
  });

  it.each(['authorization_endpoint', 'token_endpoint', 'revocation_endpoint'])(
    'a server that names the %s of another one',
    async (name) => {
      const impostor = await startImpostor(() => ({ [name]: `${server.origin}/oauth/authorize` }));
      const { code, stderr } = await logIn('endpoint', impostor);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining(`The ${name} of ${impostor} is at another`),
      ]);
    },
  );

  it.each([
    ['a program to open', 'javascript:alert(1)'],
    ['no URL', 'nowhere'],
  ])('a server that names %s', async (_what, authorization_endpoint) => {
    const impostor = await startImpostor(() => ({ authorization_endpoint }));
    const { code, stderr } = await logIn('endpoint', impostor);
    expect([code, stderr]).toEqual([1, expect.stringContaining('The authorization_endpoint of')]);
  });

  it('what has no metadata of an authorization server', async () => {
    const impostor = await startImpostor(() => ({ token_endpoint: undefined }));
    const { code, stderr } = await logIn('shape', impostor);
    expect([code, stderr]).toEqual([1, `assay: ${impostor} is not an Assay server.\n`]);
  });

  it('RFC 9207: an answer of another issuer', async () => {
    const { address, ended, output } = await startLogin('iss', server.origin);
    const response = new URL(address.searchParams.get('redirect_uri') ?? '');
    response.search = String(
      new URLSearchParams({
        code: 'stolen',
        state: address.searchParams.get('state') ?? '',
        iss: 'https://other.example',
      }),
    );
    expect((await fetch(response)).status).toBe(404);
    expect((await fetch(`${response.origin}//`)).status).toBe(404);
    response.searchParams.set('iss', server.origin);
    expect((await fetch(response)).status).toBe(200);
    expect([await ended, output()]).toEqual([
      1,
      expect.stringContaining('rejected its own authorization code'),
    ]);
  });
});

describe('assay login --issuer', () => {
  it.each([
    ['all endpoints', ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint']],
    ['the authorization endpoint', ['authorization_endpoint']],
    ['the token endpoint', ['token_endpoint']],
  ])('refuses a server that names %s at the issuer', async (_what, names) => {
    const endpoint = `${server.origin}/oauth/authorize`;
    const impostor = await startImpostor(() => ({
      issuer: server.origin,
      ...Object.fromEntries(names.map((name) => [name, endpoint])),
    }));
    const { code, stderr } = await logIn('elsewhere', impostor, '--issuer', server.origin);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is at another server')]);
  });

  it('names the issuer that an operator has set', async () => {
    const issuer = 'https://id.example.com/team';
    const otherServer = await startTestServer({ issuer });
    onTestFinished(() => otherServer.close());
    const { code, stderr } = await logIn('other', otherServer.origin);
    expect([code, stderr]).toEqual([1, expect.stringContaining('add --issuer')]);

    const account = await createFixtures(otherServer).account();
    const browser = createFormClient(otherServer);
    await browser.signIn(account.email, account.password);
    const { address, ended } = await startLogin('other', otherServer.origin, '--issuer', issuer);
    const requested = address.searchParams.get('scope')?.split(' ');
    expect(requested).toContain('api');
    expect(requested).not.toContain('api_read');
    const path = address.pathname + address.search;
    const response = await browser.submit(await browser.open(path), { decision: 'allow' }, path);
    expect(new URL(response.location ?? '').searchParams.get('iss')).toBe(issuer);
    expect((await fetch(response.location ?? '')).status).toBe(200);
    expect(await ended).toBe(0);
    const saved = JSON.parse(readFileSync(join(configFolder('other'), 'assay/login.json'), 'utf8'));
    expect(saved).toMatchObject({
      server: otherServer.origin,
      token_endpoint: `${otherServer.origin}/oauth/token`,
    });
  });
});
