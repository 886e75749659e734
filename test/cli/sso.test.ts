import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/db/open-database.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../harness/identity-provider.ts';
import { startCommandLine } from './command-line.ts';

let provider: TestIdentityProvider;
const folder = mkdtempSync(join(tmpdir(), 'assay-sso-'));
const secretFile = join(folder, 'secret');

const assay = await startCommandLine();
beforeAll(async () => {
  provider = await startIdentityProvider({
    redirectUris: ['http://127.0.0.1:8080/sign-in/organization/callback/acme'],
  });
  for (const uid of ['acme', 'umbra', 'bare']) await assay.json('organization', 'create', uid, '--name', uid);
  await assay.json('assessment', 'create', 'shop', '--organization', 'acme', '--name', 'Shop');
  writeFileSync(secretFile, `${provider.clientSecret}\n`);
});
afterAll(async () => {
  await assay.close();
  await provider.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  provider.tamper = () => undefined;
});

const SET = (organization = 'acme', domain = `${organization}.example`) => [
  'sso',
  'set',
  '--organization',
  organization,
  '--issuer',
  provider.issuer,
  '--client-id',
  'assay',
  '--domain',
  domain,
];

async function expectRefusal(args: readonly string[], code: number, message: string | RegExp): Promise<void> {
  const finished = await assay.run(args);
  expect({ code: finished.code, stdout: finished.stdout }).toEqual({ code, stdout: '' });
  expect(finished.stderr).toMatch(/^assay: .*\n$/);
  expect(finished.stderr).toMatch(message);
}

describe('assay sso set', () => {
  it('configures a provider and prints the redirect URI to register', async () => {
    const set = await assay.json(
      ...SET(),
      'WWW.Acme.Example',
      'bücher.example',
      '--client-secret-file',
      secretFile,
      '--admin-group',
      'leads',
      '--group',
      'web team=shop',
      'CN=Web,DC=acme=shop',
      '--sso-only',
      '--trust-email',
    );
    expect(set).toEqual({
      organization: 'acme',
      issuer: provider.issuer,
      client_id: 'assay',
      confidential: true,
      domains: ['acme.example', 'www.acme.example', 'xn--bcher-kva.example'],
      groups_claim: 'groups',
      admin_group: 'leads',
      groups: [
        { group: 'CN=Web,DC=acme', assessment: 'shop' },
        { group: 'web team', assessment: 'shop' },
      ],
      sso_only: true,
      trust_email: true,
      redirect_uri: 'http://127.0.0.1:8080/sign-in/organization/callback/acme',
    });
    expect(await assay.json('sso', 'show', '--organization', 'acme')).toEqual([set]);
    const { stdout } = await assay.run(['sso', 'show']);
    expect(stdout).toMatch(/^client +assay \(with a secret\)$/m);
    expect(stdout).toMatch(/^sso only +yes$/m);
    expect(stdout).toMatch(/^trust email +yes$/m);
  });

  it('replaces the settings, and keeps the secret of the same client', async () => {
    await assay.json(...SET(), '--client-secret-file', secretFile, '--sso-only', '--trust-email');
    const repeated = await assay.json(...SET('acme', 'new.example'));
    expect(repeated).toMatchObject({
      confidential: true,
      domains: ['new.example'],
      sso_only: false,
      trust_email: false,
      groups: [],
    });
    const otherSettings = SET().map((text) => (text === 'assay' ? 'another-client' : text));
    expect(await assay.json(...otherSettings)).toMatchObject({ confidential: false });
  });

  it('reads the secret from standard input, and prints it nowhere', async () => {
    const { code, stdout, stderr } = await assay.run([...SET(), '--client-secret-file', '-'], {
      input: `${provider.clientSecret}\n`,
    });
    expect(code).toBe(0);
    expect(stdout).toContain('with a secret');
    expect(stdout).toContain('Register this redirect URI at the provider');
    expect(stdout + stderr).not.toContain(provider.clientSecret);
    expect(JSON.stringify(await assay.json('sso', 'show'))).not.toContain('secret with');
  });

  it('records the change in the audit log, without the secret', async () => {
    await assay.json(...SET());
    await assay.json(...SET(), '--client-secret-file', secretFile, '--trust-email');
    const db = await openDatabase({ ...assay.database, timeout: 30_000 });
    try {
      const event = await db.read
        .selectFrom('audit_events')
        .selectAll()
        .where('action', '=', 'identity-provider.set')
        .orderBy('id', 'desc')
        .executeTakeFirstOrThrow();
      expect(JSON.parse(event?.after ?? '')).toEqual({
        issuer: provider.issuer,
        client_id: 'assay',
        confidential: true,
        domains: ['acme.example'],
        groups_claim: 'groups',
        admin_group: null,
        groups: [],
        sso_only: false,
        trust_email: true,
      });
      expect(JSON.parse(event?.before ?? '')).toMatchObject({ trust_email: false });
      const stored = await db.read.selectFrom('identity_providers').select('sealed_secret').execute();
      const recordedText = JSON.stringify([
        await db.read.selectFrom('audit_events').selectAll().execute(),
        stored,
      ]);
      expect(recordedText).not.toContain(provider.clientSecret);
      expect(event.after).not.toContain(stored[0]?.sealed_secret);
    } finally {
      await db.close();
    }
  });

  it('rejects a domain of another organization', async () => {
    await assay.json(...SET());
    await expectRefusal(
      SET('umbra', 'ACME.example'),
      1,
      'The domain acme.example already belongs to another organization',
    );
    expect(await assay.json('sso', 'show', '--organization', 'umbra')).toEqual([]);
  });

  it.each([
    [['--domain', 'nonsense'], 2, /--domain must be a domain such as example\.com, not "nonsense"/],
    [['--domain', 'a@b.example'], 2, /--domain must be a domain/],
    [['--group', 'web=unknown'], 2, /--group "unknown" is not the uid of an assessment of the organization/],
    [['--group', 'web'], 2, /NAME=UID/],
    [
      ['--client-secret-file', '/does/not/exist'],
      1,
      /Cannot read the client secret from \/does\/not\/exist \(ENOENT\)/,
    ],
    [['--client-secret-file', '/dev/null'], 2, /must be one line of 1 to 4096 characters/],
    [['--groups-claim', ''], 2, /--groups-claim must have 1 to 255 visible characters/],
  ] as const)('refuses %j', async (args, code, message) => {
    await expectRefusal([...SET('bare'), ...args], code, message);
    expect(await assay.json('sso', 'show', '--organization', 'bare')).toEqual([]);
  });

  it('rejects an unknown organization', () =>
    expectRefusal(SET('nobody'), 1, 'Organization "nobody" not found'));

  const withIssuer = (issuer: string) =>
    SET('bare').map((text) => (text === provider.issuer ? issuer : text));
  it.each([
    'https://login.microsoftonline.com/common/v2.0',
    'https://login.microsoftonline.com/organizations/v2.0',
    'https://login.microsoftonline.com/consumers/v2.0',
    'https://login.microsoftonline.us/common/v2.0',
    'https://login.partner.microsoftonline.cn/common/v2.0',
    'https://accounts.google.com',
  ])('refuses --trust-email for %s, which several organizations share', async (issuer) => {
    await expectRefusal(
      [...withIssuer(issuer), '--trust-email'],
      2,
      /--issuer ".*" is shared by several organizations, so it cannot be combined with --trust-email: .*; use the issuer of the organization's own tenant/,
    );
    expect(await assay.json('sso', 'show', '--organization', 'bare')).toEqual([]);
  });

  it('fails if the provider is unreachable', async () => {
    const closedServer = createServer();
    await new Promise<void>((resolve) => closedServer.listen(0, '127.0.0.1', resolve));
    const { port } = closedServer.address() as AddressInfo;
    await new Promise((resolve) => closedServer.close(resolve));
    await expectRefusal(
      withIssuer(`http://127.0.0.1:${port}`),
      1,
      /Cannot use the provider at .*: the request failed \(ECONNREFUSED\)\. Check --issuer/,
    );
  });

  it('fails if the server is not a provider', () =>
    expectRefusal(
      withIssuer(`${provider.issuer}/elsewhere`),
      1,
      /Cannot use the provider at .*: unexpected HTTP response/,
    ));

  it('requires HTTPS, except for this machine', async () => {
    await expectRefusal(withIssuer('http://login.example'), 1, 'its issuer must be an https URL');
    await expectRefusal(withIssuer('login.example'), 1, 'its issuer must be an https URL');
  });

  it('rejects metadata with another issuer', async () => {
    provider.tamper = (path, body) =>
      path === '/.well-known/openid-configuration' ? { ...body, issuer: 'https://evil.example' } : undefined;
    await expectRefusal(SET('bare'), 1, /Cannot use the provider at .*: .*issuer/);
  });

  it.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'])(
    'rejects metadata whose %s is no https URL',
    async (name) => {
      for (const value of ['http://login.example/x', 'login.example/x', 'javascript:alert(1)', '', 5, null]) {
        provider.tamper = (path, body) =>
          path === '/.well-known/openid-configuration' ? { ...body, [name]: value } : undefined;
        await expectRefusal(
          SET('bare'),
          1,
          new RegExp(`Cannot use the provider at .*: the ${name} in its metadata must be an https URL`),
        );
      }
    },
  );

  it('rejects metadata whose issuer is no URL', async () => {
    for (const issuer of ['login.example', '', 5, undefined]) {
      provider.tamper = (path, body) =>
        path === '/.well-known/openid-configuration' ? { ...body, issuer } : undefined;
      await expectRefusal(SET('bare'), 1, /Cannot use the provider at /);
    }
  });

  it('rejects metadata without the required endpoints', async () => {
    provider.tamper = (path, body) =>
      path === '/.well-known/openid-configuration' ? { ...body, token_endpoint: undefined } : undefined;
    await expectRefusal(SET('bare'), 1, /its metadata have no token_endpoint/);
  });
});

describe('assay sso remove and unlink', () => {
  it('removes the provider and its domains', async () => {
    await assay.json(...SET());
    expect(await assay.json('sso', 'remove', '--organization', 'acme')).toEqual({
      organization: 'acme',
      removed: true,
    });
    expect(await assay.json('sso', 'show')).toEqual([]);
    expect((await assay.run(['sso', 'show'])).stdout).toBe(
      'No identity providers yet. Run "assay sso set" to add one.\n',
    );
    expect((await assay.run(['sso', 'show', '--organization', 'acme'])).stdout).toBe(
      'acme has no identity provider. Run "assay sso set" to add one.\n',
    );
    expect(await assay.json(...SET('umbra', 'acme.example'))).toMatchObject({ domains: ['acme.example'] });
    await assay.json('sso', 'remove', '--organization', 'umbra');
    await expectRefusal(['sso', 'remove', '--organization', 'acme'], 1, 'acme has no identity provider');
  });

  it('fails for a user who was never linked', async () => {
    await assay.json('user', 'create', '--email', 'ada@acme.example', '--organization', 'acme');
    await expectRefusal(
      ['sso', 'unlink', '--user', 'ada@acme.example'],
      1,
      'ada@acme.example is not linked to an identity provider',
    );
  });
});
