import { sql, type SqlBool } from 'kysely';
import type { Caller } from '../../auth/callers.ts';
import type { ReadConnection } from '../../db/database.ts';
import { inList } from '../../db/dialect-sql.ts';
import { STAFF_OBJECT_TYPES } from './actions.ts';
import { DomainError } from '../shared/errors.ts';
import { type Filter, sinceFilter, textFilter, untilFilter } from '../lists/filters.ts';
import { defineList } from '../lists/define-list.ts';
import { inAccessibleOrganization, visibilityOf, visibilityParameters } from '../shared/visibility.ts';

export interface AuditEvent {
  id: number;
  at: number;
  action: string;
  objectType: string;
  objectId: string | null;
  /** `null` for events outside any organization. */
  organizationUid: string | null;
  actorKind: string;
  userId: number | null;
  /** `null` for events without a user, and for deleted users. */
  email: string | null;
  credentialId: string | null;
  address: string | null;
  requestId: string | null;
  before: unknown;
  after: unknown;
}

/**
 * The audit log of the organizations that the caller administers (operation 60). Only staff without assigned
 * organizations see events outside any organization and those of unauthenticated requests.
 */
export const auditEventList = defineList({
  name: 'audit-events',
  rows: ({ db, caller }) =>
    db
      .selectFrom('audit_events')
      .leftJoin('organizations', 'organizations.id', 'audit_events.organization_id')
      .leftJoin('users', 'users.id', 'audit_events.user_id')
      .select([
        'audit_events.id',
        'audit_events.at',
        'audit_events.action',
        'audit_events.object_type',
        'audit_events.object_id',
        'organizations.uid as organization_uid',
        'audit_events.actor_kind',
        'audit_events.user_id',
        'users.email',
        'audit_events.credential_id',
        'audit_events.address',
        'audit_events.request_id',
        sql<number>`coalesce(octet_length(audit_events.before), 0) + coalesce(octet_length(audit_events.after), 0)`.as(
          'bytes',
        ),
      ])
      .where((eb) =>
        eb.and([
          inAccessibleOrganization(
            visibilityOf(caller),
            eb.ref('audit_events.organization_id'),
            visibilityParameters(caller),
          ),
          ...(seesEveryOrganization(caller)
            ? []
            : [
                eb('audit_events.organization_id', 'is not', null),
                eb('audit_events.actor_kind', '<>', 'stranger'),
              ]),
          ...(caller.staff
            ? []
            : [
                eb('audit_events.object_type', 'not in', STAFF_OBJECT_TYPES),
                eb('audit_events.internal', '=', 0),
              ]),
        ]),
      ),
  id: 'audit_events.id',
  organization: 'audit_events.organization_id',
  filters: {
    action: textFilter('audit_events.action'),
    objectType: equals('audit_events.object_type'),
    objectId: equals('audit_events.object_id'),
    userId: {
      kind: 'integers',
      where: (_listContext, [id = -1]) => sql<SqlBool>`audit_events.user_id = ${id}`,
    },
    requestId: equals('audit_events.request_id'),
    since: sinceFilter('audit_events.at'),
    until: untilFilter('audit_events.at'),
  },
  sorts: { at: { column: 'audit_events.at', type: 'integer' } },
  descendingIds: true,
  bytesOf: ({ bytes }) => bytes,
  async hydrate({ db }, rows): Promise<AuditEvent[]> {
    const details = await loadDetails(db, rows);
    return rows.map((row) => ({
      id: row.id,
      at: row.at,
      action: row.action,
      objectType: row.object_type,
      objectId: row.object_id,
      organizationUid: row.organization_uid,
      actorKind: row.actor_kind,
      userId: row.user_id,
      email: row.email,
      credentialId: row.credential_id,
      address: row.address,
      requestId: row.request_id,
      before: details.get(row.id)?.before ?? null,
      after: details.get(row.id)?.after ?? null,
    }));
  },
});

/** Compares with one value, for which the engine uses the index in the order of the list. */
function equals(column: string): Filter<'texts'> {
  return {
    kind: 'texts',
    where: (_listContext, [value]) =>
      value === undefined ? sql<SqlBool>`1 = 0` : sql<SqlBool>`${sql.ref(column)} = ${value}`,
  };
}

function seesEveryOrganization({ staff, assignedOrganizations }: Caller): boolean {
  return staff && assignedOrganizations === null;
}

/** @throws DomainError `forbidden` unless the caller is an admin */
export function requireAuditAccess({ admin }: Caller): void {
  if (!admin) throw new DomainError('audit-log-admins-only');
}

interface Details {
  before: unknown;
  after: unknown;
}

async function loadDetails(
  db: ReadConnection,
  rows: readonly { id: number; bytes: number }[],
): Promise<ReadonlyMap<number, Details>> {
  const ids = rows.flatMap(({ id, bytes }) => (bytes === 0 ? [] : [id]));
  if (ids.length === 0) return new Map();
  const detailRows = await db
    .selectFrom('audit_events')
    .select(['id', 'before', 'after'])
    .where(({ ref }) => inList(db, ref('id'), ids))
    .execute();
  return new Map(
    detailRows.map(({ id, before, after }) => [id, { before: parseJson(before), after: parseJson(after) }]),
  );
}

const parseJson = (text: string | null): unknown => (text === null ? null : (JSON.parse(text) as unknown));
