/** Every file of tests runs on SQLite and on PostgreSQL, but for those that one of these lists names. */
export const EVERY_FILE = 'test/**/*.test.ts';

/** What opens no database, and so runs once, on no engine. */
export const PURE = [
  'test/account/distances.test.ts',
  'test/auth/addresses.test.ts',
  'test/auth/email-addresses.test.ts',
  'test/auth/keys.test.ts',
  'test/auth/password-strength.test.ts',
  'test/auth/passwords.test.ts',
  'test/cli/import-parts.test.ts',
  'test/cli/import-wizard.test.ts',
  'test/db/group-commit.test.ts',
  'test/db/prepared.test.ts',
  'test/domain/actions.test.ts',
  'test/domain/time.test.ts',
  'test/domain/vector-scores.test.ts',
  'test/files/s3-signature.test.ts',
  'test/house.test.ts',
  'test/http/console-places.test.ts',
  'test/http/deadline.test.ts',
  'test/http/serialization.test.ts',
  'test/importers/formats/**/*.test.ts',
  'test/importers/identity.test.ts',
  'test/importers/reading/**/*.test.ts',
  'test/patterns.test.ts',
  'test/stack-sources.test.ts',
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
  'test/db/sqlite-checkpoints.test.ts',
  'test/db/sqlite-pace.test.ts',
  'test/db/sqlite-threads.test.ts',
  'test/http/bodies.test.ts',
  'test/http/described-answers.test.ts',
  'test/http/description.test.ts',
  'test/http/event-loop.test.ts',
  'test/http/headers.test.ts',
  'test/http/rate-limit.test.ts',
  'test/http/routes.test.ts',
  'test/http/static-files.test.ts',
];
