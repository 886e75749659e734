/** Every file of tests runs on SQLite and on PostgreSQL, except those in `ON_SQLITE_ALONE`. */
export const EVERY_FILE = 'test/**/*.test.ts';

/** Files that need a browser. They run in a project of their own. */
export const IN_BROWSER = 'test/browser/**/*.test.ts';

/**
 * Files that run on SQLite only, because they open no database, or because other files run every clause of their
 * statements on PostgreSQL. After a complete run, `harness/statement-coverage.ts` lists clauses that no other file
 * runs. Concurrency, order and failures of the database are tested on both engines.
 */
export const ON_SQLITE_ALONE = [
  'test/account/console.test.ts',
  'test/account/every-page.test.ts',
  'test/account/late-requests.test.ts',
  'test/account/overview.test.ts',
  'test/account/password.test.ts',
  'test/account/relative-time.test.ts',
  'test/account/required-second-factor.test.ts',
  'test/account/sessions.test.ts',
  'test/account/sign-in.test.ts',
  'test/account/sso-keys.test.ts',
  'test/account/sso-only.test.ts',
  'test/account/tokens.test.ts',
  'test/account/totp.test.ts',
  'test/architecture.test.ts',
  'test/auth/email-addresses.test.ts',
  'test/auth/ip-addresses.test.ts',
  'test/auth/keys.test.ts',
  'test/auth/password-strength.test.ts',
  'test/auth/passwords.test.ts',
  'test/auth/shared-issuers.test.ts',
  IN_BROWSER,
  'test/cli/client.test.ts',
  'test/cli/completion.test.ts',
  'test/cli/import-parts.test.ts',
  'test/cli/import-terminal.test.ts',
  'test/cli/import-wizard.test.ts',
  'test/cli/import.test.ts',
  'test/cli/operations.test.ts',
  'test/cli/process.test.ts',
  'test/cli/tutorial.test.ts',
  'test/cli/serve-messages.test.ts',
  'test/cli/sso.test.ts',
  'test/cli/usage.test.ts',
  'test/cli/user-assign.test.ts',
  'test/cli/user-links.test.ts',
  'test/client/client.test.ts',
  'test/client/generators.test.ts',
  'test/console/**/*.test.ts',
  'test/contract/assessment-groups.test.ts',
  'test/contract/assessment-users.test.ts',
  'test/contract/create-assessment.test.ts',
  'test/contract/create-assets.test.ts',
  'test/contract/create-token.test.ts',
  'test/contract/delete-assessment-tag.test.ts',
  'test/contract/follow-import.test.ts',
  'test/contract/get-assessment.test.ts',
  'test/contract/get-current-user.test.ts',
  'test/contract/get-testing-hours.test.ts',
  'test/contract/get-user.test.ts',
  'test/contract/list-audit-events.test.ts',
  'test/contract/list-tokens.test.ts',
  'test/contract/list-users.test.ts',
  'test/contract/revoke-token.test.ts',
  'test/contract/tag-pairs.test.ts',
  'test/db/group-commit.test.ts',
  'test/db/prepared-queries.test.ts',
  'test/db/reader-pool.test.ts',
  'test/db/sqlite-transaction.test.ts',
  'test/db/wal-checkpointer.test.ts',
  'test/domain/cvss.test.ts',
  'test/domain/derive-finding.test.ts',
  'test/domain/names.test.ts',
  'test/domain/time.test.ts',
  'test/files/s3-signature.test.ts',
  'test/http/access.test.ts',
  'test/http/client-address.test.ts',
  'test/http/common-errors.test.ts',
  'test/http/console-pages.test.ts',
  'test/http/described-responses.test.ts',
  'test/http/description.test.ts',
  'test/http/docs-sign-in.test.ts',
  'test/http/etags.test.ts',
  'test/http/event-loop.test.ts',
  'test/http/headers.test.ts',
  'test/http/json-bodies.test.ts',
  'test/http/methods.test.ts',
  'test/http/operator.test.ts',
  'test/http/rate-limit.test.ts',
  'test/http/request-timeout.test.ts',
  'test/http/routes.test.ts',
  'test/http/serialization.test.ts',
  'test/http/slow-requests.test.ts',
  'test/http/static-files.test.ts',
  'test/http/streams.test.ts',
  'test/http/validation.test.ts',
  'test/importers/detect-format.test.ts',
  'test/importers/finding-identity.test.ts',
  'test/importers/formats/**/*.test.ts',
  'test/importers/locations.test.ts',
  'test/importers/parsing/**/*.test.ts',
  'test/jobs/mailer.test.ts',
  'test/oauth/attacks.test.ts',
  'test/oauth/console-client.test.ts',
  'test/oauth/implicit.test.ts',
  'test/oauth/introspection.test.ts',
  'test/oauth/metadata.test.ts',
  'test/oauth/redirects.test.ts',
  'test/oauth/revocation.test.ts',
  'test/oauth/token-code.test.ts',
  'test/patterns.test.ts',
  'test/retired-words.test.ts',
  'test/lib/format-size.test.ts',
  'test/lib/memoize-async.test.ts',
  'test/lib/source-maps.test.ts',
];

/** Files of `ON_SQLITE_ALONE` with SQL of their own: they test parts of the SQLite engine, or insert many rows. */
export const WITH_OWN_SQL = ['test/db/**/*.test.ts', 'test/http/event-loop.test.ts'];

/** Clauses that files of `ON_SQLITE_ALONE` use only to set up or check their data. */
export const SQL_OF_TESTS = [
  'select "after"',
  'select "times"',
  'where "action" = ?',
  'where "email" = ?',
  'where "filename" = ?',
  'where "locked_by" = ?',
  'alter table "testing_sessions" rename to "renamed"',
  'alter table "renamed" rename to "testing_sessions"',
];

/** @returns whether a list names a file, whose path is relative to the root. `path.matchesGlob` needs Node.js 22. */
export const isIn = (list: readonly string[], file: string): boolean =>
  list.some((pattern) => {
    const [folder = '', rest] = pattern.split('/**/*');
    return rest === undefined ? file === pattern : file.startsWith(`${folder}/`) && file.endsWith(rest);
  });
