import type { Migration } from './migration.ts';

/** Whether addresses of a provider that does not say whether it has verified them count as verified. */
export const trustedEmailProviders: Migration = {
  name: '0007-trusted-email-providers',
  statements: ({ int }) => [
    `alter table identity_providers add column trust_email ${int} not null default 0 check (trust_email in (0, 1))`,
  ],
};
