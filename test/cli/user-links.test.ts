import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFormClient } from '../harness/form-client.ts';
import { startCommandLine } from './command-line.ts';

const ADDRESS = { ASSAY_CLIENT_BASE_URL: 'https://assay.example' };

let counter = 0;
const assay = await startCommandLine();
beforeAll(async () => {
  await assay.json('organization', 'create', 'acme', '--name', 'Acme');
});
afterAll(() => assay.close());

async function newUser() {
  const email = `person${(counter += 1)}@example.com`;
  return assay.json('user', 'create', '--email', email, '--organization', 'acme');
}

async function newPerson() {
  const { invite_url, ...user } = await newUser();
  const browser = createFormClient(await assay.serveHere());
  const { pathname, search } = new URL(invite_url);
  const fields = { name: 'Ada', password: 'seven green ladders sing' };
  const response = await browser.submit(await browser.open(pathname + search), fields, '/invitation');
  expect(response.status).toBe(303);
  return user;
}

async function expectRefusal(args: string[], words: string) {
  const { code, stderr, stdout } = await assay.run(args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(words);
}

describe('assay user invite', () => {
  it('prints a new link and its expiry', async () => {
    const { id, uid, email, invite_url } = await newUser();
    const renewed = await assay.json('user', 'invite', email);
    expect(renewed).toEqual({
      id,
      uid,
      email,
      invite_url: expect.stringMatching(/\/invitation\?token=\S+$/),
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    expect(renewed.invite_url).not.toBe(invite_url);
    expect((await assay.json('user', 'invite', uid)).invite_url).not.toBe(renewed.invite_url);
  });

  it('prints the link as text, and the assumed URL', async () => {
    const { email } = await newUser();
    const assumed = await assay.run(['user', 'invite', email]);
    expect(assumed.stdout).toMatch(/^invite_url +http:\/\/127\.0\.0\.1:8080\/invitation\?token=\S+$/m);
    expect(assumed.stderr).toContain('set ASSAY_CLIENT_BASE_URL');
    const set = await assay.run(['user', 'invite', email], { env: ADDRESS });
    expect(set.stdout).toContain('https://assay.example/invitation?token=');
    expect(set.stderr).toBe('');
  });

  it('rejects users who have accepted, banned and unknown ones', async () => {
    const { email } = await newPerson();
    await expectRefusal(['user', 'invite', email], `"assay user reset-password ${email}"`);
    const banned = await newUser();
    await assay.json('token', 'create', '--user', banned.email);
    await assay.json('user', 'ban', banned.email);
    await expectRefusal(['user', 'invite', banned.email], 'is banned');
    await expectRefusal(['user', 'invite', 'nobody@example.com'], 'not found');
  });
});

describe('assay user reset-password', () => {
  it('prints a link that can be used once', async () => {
    const { id, uid, email } = await newPerson();
    const older = await assay.json('user', 'reset-password', email);
    const created = await assay.json('user', 'reset-password', String(id));
    expect(created).toEqual({
      id,
      uid,
      email,
      reset_url: expect.stringMatching(/\/reset-password\?token=\w{43}$/),
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    const server = await assay.serveHere();
    const statusOf = async (url: string) => {
      const { pathname, search } = new URL(url);
      return (await fetch(server.origin + pathname + search)).status;
    };
    expect([await statusOf(older.reset_url), await statusOf(created.reset_url)]).toEqual([404, 200]);
  });

  it('rejects invited, banned and unknown users', async () => {
    const { email } = await newUser();
    await expectRefusal(['user', 'reset-password', email], `"assay user invite ${email}"`);
    await assay.json('token', 'create', '--user', email);
    await assay.json('user', 'ban', email);
    await expectRefusal(['user', 'reset-password', email], 'is banned');
    await expectRefusal(['user', 'reset-password', 'nobody@example.com'], 'not found');
  });
});

describe('assay user sign-out', () => {
  it('succeeds without sessions, and rejects an unknown user', async () => {
    const { id, uid, email } = await newUser();
    expect(await assay.json('user', 'sign-out', email)).toEqual({ id, uid, email, sessions: 0 });
    expect((await assay.run(['user', 'sign-out', uid])).stdout).toBe(`${email} was not signed in.\n`);
    await expectRefusal(['user', 'sign-out', 'nobody@example.com'], 'not found');
  });
});
