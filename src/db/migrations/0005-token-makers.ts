import type { Migration } from './migration.ts';

/** The token with which another one was made, and with which it ends, and the application that this one is of. */
export const tokenMakers: Migration = {
  name: '0005-token-makers',
  statements: ({ text }) => [
    // No foreign key: an access token is deleted once it has expired, and one of an external issuer is in no table.
    `alter table tokens add column made_by ${text}`,
    `alter table tokens add column made_by_client ${text}`,
    `create index tokens_by_maker on tokens (made_by) where made_by is not null`,
  ],
};
