import type { Migration, SchemaDialect } from './migration.ts';

/**
 * What staff reported, wrote and logged, which those who are tested cannot rewrite, and how testing sessions were
 * corrected. What an earlier version stored is marked by its author; without one, it counts as not of staff.
 */
export const evidence: Migration = {
  name: '0011-evidence',
  statements: (dialect) => [
    ...Object.entries(AUTHORS).flatMap(([table, author]) => markedTable(dialect, table, author)),
    `alter table vulnerabilities add column reported_by_staff ${dialect.int} not null default 0
      check (reported_by_staff in (0, 1))`,
    `update vulnerabilities set reported_by_staff = 1 where ${BY_STAFF('created_by')}`,
    ...testingSessions(dialect),
  ],
};

const AUTHORS = {
  attachments: 'user_id',
  comments: 'user_id',
  imports: 'created_by',
  testing_sessions: 'tester_id',
} as const;

const BY_STAFF = (author: string) => `${author} in (select id from users where staff = 1)`;

const markedTable = ({ int }: SchemaDialect, table: string, author: string): string[] => [
  `alter table ${table} add column by_staff ${int} not null default 0 check (by_staff in (0, 1))`,
  `update ${table} set by_staff = 1 where ${BY_STAFF(author)}`,
];

const testingSessions = ({ id, int, text, tableOptions }: SchemaDialect): string[] => [
  // The user who created the session. Only sessions that testers created themselves let them decide retests.
  `alter table testing_sessions add column entered_by ${int} references users (id) on delete set null`,
  `create index testing_sessions_by_author on testing_sessions (entered_by) where entered_by is not null`,
  `update testing_sessions set entered_by = coalesce((select event.user_id from audit_events as event
      join users on users.id = event.user_id
    where event.object_id = cast(testing_sessions.id as text) and event.object_type = 'testing-session'
      and event.action in ('testing-session.start', 'testing-session.log') limit 1), tester_id)`,

  `create unique index testing_sessions_by_organization on testing_sessions (organization_id, id)`,
  `create table testing_session_edits (
    id ${id},
    organization_id ${int} not null,
    session_id ${int} not null,
    user_id ${int} references users (id) on delete set null,
    edited_at ${int} not null,
    before ${text} not null,
    after ${text} not null,
    foreign key (organization_id, session_id) references testing_sessions (organization_id, id) on delete cascade
  ) ${tableOptions}`,
  `create index testing_session_edits_by_session on testing_session_edits (session_id, id)`,
  `create index testing_session_edits_by_user on testing_session_edits (user_id) where user_id is not null`,
];
