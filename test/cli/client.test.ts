import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCommandLine } from './command-line.ts';

const assay = await startCommandLine();
beforeAll(async () => {
  await assay.json('organization', 'create', 'acme', '--name', 'Acme');
  await assay.json('user', 'create', '--email', 'sync@example.com', '--organization', 'acme');
});
afterAll(() => assay.close());

const REDIRECT = ['--redirect', 'https://app.example/callback'];
const create = (...args: string[]) => assay.json('client', 'create', '--name', 'Board', ...args);
const listed = async (id: string) =>
  (await assay.json('client', 'list')).find((client: { client_id: string }) => client.client_id === id);

async function expectRefusal(args: string[], code: number, message: string | RegExp): Promise<void> {
  const finished = await assay.run(['client', ...args]);
  expect({ code: finished.code, stdout: finished.stdout }).toEqual({ code, stdout: '' });
  expect(finished.stderr).toMatch(/^assay: .*\n$/);
  expect(finished.stderr).toMatch(message);
}

describe('assay client', () => {
  it('registers a public application without a secret and the implicit flow', async () => {
    const created = await create(...REDIRECT, 'http://127.0.0.1/cb');
    expect(created).toEqual({ client_id: expect.stringMatching(/^[0-9A-Za-z]{20}$/) });
    expect(await listed(created.client_id)).toEqual({
      client_id: created.client_id,
      name: 'Board',
      kind: 'public',
      redirect_uris: ['https://app.example/callback', 'http://127.0.0.1/cb'],
      implicit: false,
      scopes: null,
      user: null,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  it('registers a confidential application and prints its secret once', async () => {
    const { stdout } = await assay.run([
      'client',
      'create',
      '--name',
      'Sync',
      '--confidential',
      '--user',
      'sync@example.com',
    ]);
    const [, secret = ''] = /^client_secret +([0-9A-Za-z]{43})$/m.exec(stdout) ?? [];
    const [, id = ''] = /^client_id +(\w+)$/m.exec(stdout) ?? [];
    expect(secret).not.toBe('');
    expect(stdout).toContain('cannot be shown again');
    expect(await listed(id)).toMatchObject({ kind: 'confidential', user: 'sync@example.com' });
    for (const args of [[], ['--json']])
      expect((await assay.run(['client', 'list', ...args])).stdout).not.toContain(secret);
    const renewed = await assay.json('client', 'update', id, '--new-secret');
    expect(renewed).toEqual({ client_id: id, implicit: false, client_secret: expect.any(String) });
    expect(renewed.client_secret).not.toBe(secret);
  });

  it('limits the scopes of an application', async () => {
    const { client_id } = await create(...REDIRECT, '--scopes', 'api, tag_or');
    expect(await listed(client_id)).toMatchObject({ scopes: ['api', 'tag_or'] });
    const rejected = await assay.run([
      'client',
      'create',
      '--name',
      'Board',
      ...REDIRECT,
      '--scopes',
      'root',
    ]);
    expect([rejected.code, rejected.stderr]).toEqual([2, expect.stringContaining('is not a scope')]);
  });

  it('enables and disables the implicit flow', async () => {
    const { client_id } = await create(...REDIRECT, '--implicit');
    expect(await listed(client_id)).toMatchObject({ implicit: true });
    expect(await assay.json('client', 'update', client_id, '--no-implicit')).toEqual({
      client_id,
      implicit: false,
    });
    expect(await listed(client_id)).toMatchObject({ implicit: false });
    const { client_id: without } = await create(...REDIRECT, '--no-implicit', '--public');
    expect(await listed(without)).toMatchObject({ implicit: false, kind: 'public' });
  });

  it('lists the client of the API description', async () => {
    const { stdout } = await assay.run(['client', 'list']);
    expect(stdout).toMatch(/^ID +NAME +KIND +IMPLICIT +SCOPES +ACTS AS +REDIRECTS$/m);
    expect(stdout).toMatch(
      /^assay-docs +API documentation +public +yes +all +- +\/docs\/oauth2-redirect\.html$/m,
    );
    expect(await listed('assay-docs')).toMatchObject({ created_at: null });
  });

  it('deletes an application', async () => {
    const { client_id } = await create(...REDIRECT);
    expect(await assay.json('client', 'delete', client_id)).toEqual({ client_id, deleted: true });
    expect(await listed(client_id)).toBeUndefined();
    for (const args of [
      ['delete', client_id],
      ['update', client_id, '--implicit'],
    ])
      await expectRefusal(args, 1, `Application "${client_id}" not found`);
  });

  it.each([
    [['--redirect', 'http://app.example/cb'], 2, '--redirect must use https, .* not "http://app.example/cb"'],
    [['--redirect', '/callback'], 2, '--redirect must be an absolute URL'],
    [['--redirect', 'https://app.example/#x'], 2, '--redirect must not have a fragment'],
    [[], 2, '--redirect must have at least one URL, unless the client acts as an account'],
    [[...REDIRECT, '--user', 'sync@example.com'], 2, '--user is for confidential clients only'],
    [['--confidential', '--user', 'nobody@example.com'], 1, 'User "nobody@example.com" not found'],
    [[...REDIRECT, '--public', '--confidential'], 2, 'cannot be used with'],
  ])('fails with %j', (args, code, message) =>
    expectRefusal(['create', '--name', 'Board', ...args], code, new RegExp(message)),
  );

  it('rejects a banned user', async () => {
    await assay.json('user', 'create', '--email', 'gone@example.com', '--organization', 'acme');
    await assay.json('token', 'create', '--user', 'gone@example.com');
    await assay.json('user', 'ban', 'gone@example.com');
    await expectRefusal(
      ['create', '--name', 'x', '--confidential', '--user', 'gone@example.com'],
      1,
      'gone@example.com is banned',
    );
  });

  it('requires something to update, and renews no secret of a public application', async () => {
    const { client_id } = await create(...REDIRECT);
    await expectRefusal(['update', client_id], 2, 'Specify --implicit');
    await expectRefusal(['update', client_id, '--new-secret'], 2, '--new-secret is for confidential clients');
  });
});
