import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { gate } from '../harness/gate.ts';
import { startMailbox } from '../harness/mailbox.ts';
import { startNetworkProxy } from '../harness/network-proxy.ts';
import { startTestServer } from '../harness/server.ts';
import { createFormClient } from '../harness/form-client.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { eventually } from '../harness/eventually.ts';

const HOUR = 3_600_000;
const SENDER = 'assay@example.com';

let now = Date.UTC(2026, 5, 1);
const mailbox = await startMailbox();
const server = await startTestServer(
  { smtpUrl: mailbox.url, mailFrom: SENDER, clientBaseUrl: 'https://assay.example' },
  () => now,
);
// The link has the configured address; the browser of these tests uses the other one.
const fixtures = createFixtures(server);
afterAll(async () => {
  await server.close();
  await mailbox.close();
});
beforeEach(() => {
  // Requests of earlier tests no longer count.
  now += HOUR;
});

async function requestReset(email: string, headers: Record<string, string> = {}) {
  const visitor = createFormClient(server);
  const page = await visitor.open('/reset-password/request');
  const token = /name="_csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  return visitor.post('/reset-password/request', { _csrf: token, email }, headers);
}

const mailsThatWait = () =>
  server.context.db.read.selectFrom('jobs').select('id').where('kind', '=', 'reset-mail').execute();

const addressed = (email: string) => mailbox.received.filter(({ to }) => to.includes(email));

describe('Password reset by mail', () => {
  it('sends a link with the configured address, not that of the request', async () => {
    const account = await fixtures.account();
    const response = await requestReset(account.email.toUpperCase(), {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.example',
    });
    expect(response.status).toBe(200);
    expect(response.text).toContain('Check your mail');
    const mail = await mailbox.next();
    expect(mail).toMatchObject({ from: SENDER, to: [account.email] });
    expect(mail.content).toContain('Content-Type: text/plain');
    expect(mail.link).toMatch(/^https:\/\/assay\.example\/reset-password\?token=\w{43}$/);
    const { pathname, search } = new URL(mail.link);
    const page = await createFormClient(server).get(pathname + search);
    expect(page.status).toBe(200);
    expect(page.text).toContain(account.email);
    const events = (await fixtures.auditEvents()).filter(({ action }) => action === 'password-reset.create');
    expect(events.at(-1)).toMatchObject({
      object_id: String(account.id),
      user_id: null,
      address: '127.0.0.1',
    });
  });

  it('returns the same response for unknown accounts, and sends them no mail', async () => {
    const organization = await fixtures.organization();
    const sso = await fixtures.account({ organization: organization.uid });
    await fixtures.ssoOnly(organization.uid);
    const banned = await fixtures.account();
    await server.context.db.write((tx) => banUser(tx, cliChangeContext(now), banned.id));
    const invited = await fixtures.invited();
    const knownAccount = await fixtures.account();
    const responses = [];
    const emails = ['nobody@example.com', '', sso.email, banned.email, invited.email, knownAccount.email];
    for (const email of emails) {
      const { status, text } = await requestReset(email);
      responses.push({ status, text: text.replace(/value="[^"]*"/g, '') });
    }
    for (const response of responses) expect(response).toEqual(responses[0]);
    // Requests are processed in order: when the last mail has arrived, the others had none.
    expect((await mailbox.next()).to).toEqual([knownAccount.email]);
    for (const email of emails.slice(0, -1)) expect(addressed(email)).toEqual([]);
  });

  it('sends at most three mails per hour to an account', async () => {
    const flooded = await fixtures.account();
    const otherAccount = await fixtures.account();
    for (let count = 0; count < 6; count += 1) await requestReset(flooded.email);
    await requestReset(otherAccount.email);
    while ((await mailbox.next()).to[0] !== otherAccount.email);
    expect(addressed(flooded.email)).toHaveLength(3);
    now += HOUR;
    await requestReset(flooded.email);
    await mailbox.next();
    expect(addressed(flooded.email)).toHaveLength(4);
  });

  it('sends none after twenty requests of an address within an hour', async () => {
    const account = await fixtures.account();
    for (let count = 0; count < 20; count += 1) {
      await requestReset(`nobody${count}@example.com`);
      // A queue of more than twenty mails would not be processed.
      await eventually(async () => expect(await mailsThatWait()).toEqual([]));
    }
    await requestReset(account.email);
    now += HOUR;
    const later = await fixtures.account();
    await requestReset(later.email);
    expect((await mailbox.next()).to).toEqual([later.email]);
    expect(addressed(account.email)).toEqual([]);
  });
});

describe('Mail server', () => {
  it('does not delay responses when it is slow', async () => {
    const acceptance = gate();
    const slow = await startMailbox(() => acceptance.opened);
    const waiting = await startTestServer({ smtpUrl: slow.url }, () => now);
    const account = await createFixtures(waiting).account();
    const visitor = createFormClient(waiting);
    const response = await visitor.submit(await visitor.open('/reset-password/request'), {
      email: account.email,
    });
    expect(response.status).toBe(200);
    expect(slow.received).toEqual([]);
    acceptance.open();
    expect((await slow.next()).to).toEqual([account.email]);
    await waiting.close();
    await slow.close();
  });

  it('receives pending mail after a restart of the server', async () => {
    const away = await startMailbox();
    await away.close();
    const firstServer = await startTestServer({}, () => now);
    const account = await createFixtures(firstServer).account();
    const listen = async (smtpUrl: string) => {
      const app = await buildApp({
        ...firstServer.context,
        config: { ...firstServer.context.config, smtpUrl },
      });
      return { app, origin: await app.listen({ host: '127.0.0.1', port: 0 }) };
    };
    const mails = () =>
      firstServer.context.db.read.selectFrom('jobs').selectAll().where('kind', '=', 'reset-mail').execute();

    const first = await listen(away.url);
    const visitor = createFormClient({ ...firstServer, origin: first.origin });
    await visitor.submit(await visitor.open('/reset-password/request'), { email: account.email });
    await eventually(async () => expect(await mails()).toMatchObject([{ attempts: 1, locked_by: null }]));
    await first.app.close();

    const restartedMailbox = await startMailbox();
    now += HOUR / 6;
    const next = await listen(restartedMailbox.url);
    expect((await restartedMailbox.next()).to).toEqual([account.email]);
    await next.app.close();
    expect(await mails()).toEqual([]);
    await firstServer.close();
    await restartedMailbox.close();
  });

  it('receives a mail once if the end of its job could not be written', async () => {
    const arrival = gate();
    const acceptance = gate();
    const slow = await startMailbox(() => (arrival.open(), acceptance.opened));
    const sending = await startTestServer({ smtpUrl: slow.url }, () => now);
    const { db, jobs } = sending.context;
    const account = await createFixtures(sending).account();
    const visitor = createFormClient(sending);
    await visitor.submit(await visitor.open('/reset-password/request'), { email: account.email });
    await arrival.opened;
    // Its lease is lost, so the end of this run changes nothing.
    const update = (holder: string | null) =>
      db.write((tx) =>
        tx
          .updateTable('jobs')
          .set({ locked_by: holder, run_at: holder === null ? 0 : now + HOUR })
          .where('kind', '=', 'reset-mail')
          .execute(),
      );
    await update('another instance');
    acceptance.open();
    await slow.next();
    const mails = () => db.read.selectFrom('jobs').select('id').where('kind', '=', 'reset-mail').execute();
    expect(await mails()).toHaveLength(1);
    await update(null);
    jobs.notify();
    await eventually(async () => expect(await mails()).toEqual([]));
    expect(slow.received).toHaveLength(1);
    await sending.close();
    await slow.close();
  });

  it('receives a mail once if the connection is lost before it responds', async () => {
    const inbox = await startMailbox(async () => network.cut());
    const network = await startNetworkProxy(new URL(inbox.url));
    const sending = await startTestServer({ smtpUrl: network.url }, () => now);
    const account = await createFixtures(sending).account();
    const visitor = createFormClient(sending);
    await visitor.submit(await visitor.open('/reset-password/request'), { email: account.email });
    await inbox.next();
    await eventually(async () =>
      expect(
        await sending.context.db.read
          .selectFrom('jobs')
          .select('id')
          .where('kind', '=', 'reset-mail')
          .execute(),
      ).toEqual([]),
    );
    expect(sending.logs().map(({ msg }) => msg)).toContain(
      'the connection was lost while sending a mail; not retried, because the server may have accepted it',
    );
    await sending.close();
    await network.stop();
    await inbox.close();
  });

  it('errors are logged without address and link', async () => {
    const rude = await startMailbox();
    const failing = await startTestServer({ smtpUrl: rude.url }, () => now);
    const account = await createFixtures(failing).account({ email: 'somebody.secret@example.com' });
    rude.rejectedAddresses.add(account.email);
    const visitor = createFormClient(failing);
    await visitor.submit(await visitor.open('/reset-password/request'), { email: account.email });
    await eventually(() => expect(failing.logs().some(({ level }) => level === 50)).toBe(true));
    await failing.close();
    const lines = failing.logs();
    expect(lines.find(({ msg }) => msg === 'the mail server rejected a mail permanently')).toMatchObject({
      level: 50,
      code: 'EENVELOPE',
      requestId: expect.any(String),
    });
    expect(JSON.stringify(lines)).not.toMatch(/somebody\.secret|token=/);
    await rude.close();
  });
});
