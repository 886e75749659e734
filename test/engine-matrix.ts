/** Every file of tests runs on SQLite and on PostgreSQL, but for those that one of these lists names. */
export const EVERY_FILE = 'test/**/*.test.ts';

/** What opens no database, and so runs once, on no engine. */
export const PURE = [
  'test/account/relative-time.test.ts',
  'test/auth/ip-addresses.test.ts',
  'test/auth/email-addresses.test.ts',
  'test/auth/keys.test.ts',
  'test/auth/password-strength.test.ts',
  'test/auth/passwords.test.ts',
  'test/cli/import-parts.test.ts',
  'test/cli/import-wizard.test.ts',
  'test/console/**/*.test.ts',
  'test/db/group-commit.test.ts',
  'test/db/prepared-queries.test.ts',
  'test/domain/actions.test.ts',
  'test/domain/time.test.ts',
  'test/domain/cvss.test.ts',
  'test/files/s3-signature.test.ts',
  'test/architecture.test.ts',
  'test/http/console-pages.test.ts',
  'test/http/request-timeout.test.ts',
  'test/http/serialization.test.ts',
  'test/importers/formats/**/*.test.ts',
  'test/importers/finding-identity.test.ts',
  'test/importers/detect-format.test.ts',
  'test/importers/parsing/**/*.test.ts',
  'test/patterns.test.ts',
  'test/retired-words.test.ts',
  'test/runtime/source-maps.test.ts',
];

/**
 * What runs on SQLite alone: what starts a browser or many processes and is the same on both, commands that hand on to
 * rules which are tested on both, and what HTTP has before and after the database: the description, headers, schemas,
 * what is refused before a rule is asked.
 */
export const ON_SQLITE_ALONE = [
  'test/browser/**/*.test.ts',
  'test/cli/client.test.ts',
  'test/cli/commands.test.ts',
  'test/cli/completion.test.ts',
  'test/cli/import-terminal.test.ts',
  'test/cli/import.test.ts',
  'test/cli/operations.test.ts',
  'test/cli/process.test.ts',
  'test/cli/readme.test.ts',
  'test/cli/serve-messages.test.ts',
  'test/cli/sso.test.ts',
  'test/cli/usage.test.ts',
  'test/cli/user-assign.test.ts',
  'test/cli/user-links.test.ts',
  'test/client/generators.test.ts',
  'test/db/wal-checkpointer.test.ts',
  'test/db/yielding-dialect.test.ts',
  'test/db/reader-pool.test.ts',
  'test/http/json-bodies.test.ts',
  'test/http/described-responses.test.ts',
  'test/http/description.test.ts',
  'test/http/event-loop.test.ts',
  'test/http/headers.test.ts',
  'test/http/rate-limit.test.ts',
  'test/http/routes.test.ts',
  'test/http/static-files.test.ts',
];
