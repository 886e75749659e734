import { afterAll, expect, it } from 'vitest';
import type { Job } from '../../src/domain/shared/jobs.ts';
import { type Mailer, openMailer } from '../../src/jobs/mailer.ts';
import { startMailbox } from '../harness/mailbox.ts';

const mailbox = await startMailbox();
const mailer = openMailer({ smtpUrl: mailbox.url, mailFrom: 'Assay <assay@mail.example>' }) as Mailer;
afterAll(async () => {
  mailer.close();
  await mailbox.close();
});

const job = (id: number, request: string): Job => ({
  id,
  kind: 'reset-mail',
  payload: JSON.stringify({ request }),
  attempts: 1,
});

async function headersOf(to: string, sendingJob: Job) {
  await mailer.send({ to, subject: 'A', text: 'B' }, sendingJob);
  const { content } = await mailbox.next();
  const header = (name: string) => new RegExp(`^${name}: (.*)\r$`, 'm').exec(content)?.[1];
  return { id: header('Message-ID'), auto: header('Auto-Submitted') };
}

it('marks a mail as auto-generated, and gives it the same Message-ID on each attempt', async () => {
  const first = await headersOf('a@example.com', job(1, 'one'));
  expect(first).toEqual({ id: expect.stringMatching(/^<[\w-]{32}@mail\.example>$/), auto: 'auto-generated' });
  expect(await headersOf('a@example.com', { ...job(1, 'one'), attempts: 2 })).toEqual(first);
  const otherMails = [
    await headersOf('b@example.com', job(1, 'one')),
    await headersOf('a@example.com', job(2, 'one')),
    await headersOf('a@example.com', job(1, 'two')),
  ];
  expect(new Set([first, ...otherMails].map(({ id }) => id)).size).toBe(4);
});
