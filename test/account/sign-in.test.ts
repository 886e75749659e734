import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { newVisitor } from '../harness/visitor.ts';
import { worldOf } from '../harness/world.ts';

let server: TestServer;
let now = Date.UTC(2026, 5, 1);
beforeAll(async () => {
  server = await startTestServer({}, () => now);
});
afterAll(() => server.close());

describe('Sign-in with a password', () => {
  it('leads to the account page, and the session is in a cookie that scripts cannot read', async () => {
    const account = await worldOf(server).account();
    const visitor = newVisitor(server);
    const answer = await visitor.signIn(account.email, account.password);
    expect(answer.status).toBe(303);
    expect(answer.location).toBe(`${server.origin}/account`);
    expect(answer.headers.getSetCookie().join()).toMatch(
      /assay-session=\w+; Path=\/; HttpOnly; SameSite=Lax/,
    );
    const page = await visitor.get('/account');
    expect(page.status).toBe(200);
    expect(page.text).toContain(account.email);
  });

  it('locks account and address after ten failures, in the same words, until ten minutes have gone', async () => {
    const account = await worldOf(server).account();
    const visitor = newVisitor(server);
    const words: string[] = [];
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      const answer = await visitor.signIn(account.email, 'not the password');
      expect(answer.status).toBe(401);
      words.push(/role="alert">(.*?)</.exec(answer.text)?.[1] ?? '');
    }
    const locked = await visitor.signIn(account.email, account.password);
    expect(locked.status).toBe(429);
    expect(locked.headers.get('retry-after')).toBe('600');
    words.push(/role="alert">(.*?)</.exec(locked.text)?.[1] ?? '');
    expect(new Set(words).size).toBe(1);
    now += 600_000;
    expect((await visitor.signIn(account.email, account.password)).status).toBe(303);
  });

  it('does not take a form without its token', async () => {
    const account = await worldOf(server).account();
    const answer = await newVisitor(server).post('/sign-in', {
      email: account.email,
      password: account.password,
    });
    expect(answer.status).toBe(403);
  });

  it('sends a browser that did not sign in to the sign-in page', async () => {
    const page = await newVisitor(server).get('/account');
    expect(page.status).toBe(303);
    expect(page.location).toBe(`${server.origin}/sign-in`);
  });
});
