import type { Migration } from './migration.ts';

/** When a job began to send its mail, so that it does not send it again if it runs again. */
export const mailDelivery: Migration = {
  name: '0003-mail-delivery',
  statements: ({ int }) => [`alter table jobs add column mail_started_at ${int}`],
};
