import type { Migration } from './migration.ts';

/** The token with which another one was created and ends, and the application that it was issued to. */
export const tokenCreators: Migration = {
  name: '0005-token-creators',
  statements: ({ text }) => [
    // No foreign key: an access token is deleted once it has expired, and one of an external issuer is in no table.
    `alter table tokens add column made_by ${text}`,
    `alter table tokens add column made_by_client ${text}`,
    `create index tokens_by_creator on tokens (made_by) where made_by is not null`,
  ],
};
