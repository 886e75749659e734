import type { ChangeContext, Caller } from '../../auth/callers.ts';
import { type ColumnKind, prepareInsert, prepareBatchInsert } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/database.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';
import type { Row } from '../../db/schema.ts';
import { type ChangedObject, type ExportAction, type ExportedObject, exportedObject } from './actions.ts';

/** Characters. */
const MAX_TEXT_LENGTH = 4_096;

export type AuditedChange = (ChangedObject | ExportedObject) & {
  organizationId: number | null;
  /** The state before the change; `null` for a creation. */
  before: unknown;
  /** The state after the change; `null` for a deletion. */
  after: unknown;
  /** Whether only staff may see it, as it is of a draft. */
  internal?: boolean;
};

type EventRow = Omit<Row<'audit_events'>, 'id' | 'count' | 'denied_key'>;

const insertEvent = preparePipelined<EventRow>((tx, p) =>
  tx.insertInto('audit_events').values({
    at: p.at,
    action: p.action,
    object_type: p.object_type,
    object_id: p.object_id,
    organization_id: p.organization_id,
    actor_kind: p.actor_kind,
    user_id: p.user_id,
    credential_id: p.credential_id,
    address: p.address,
    request_id: p.request_id,
    before: p.before,
    after: p.after,
    internal: p.internal,
  }),
);

/** The columns that changes and denied attempts share. */
export const EVENT_COLUMNS = {
  at: 'int',
  action: 'text',
  object_type: 'text',
  object_id: 'text',
  organization_id: 'int',
  actor_kind: 'text',
  user_id: 'int',
  credential_id: 'text',
  address: 'text',
  request_id: 'text',
  after: 'text',
} as const;

const COLUMNS = { ...EVENT_COLUMNS, before: 'text', internal: 'int' } as const satisfies Record<
  keyof EventRow,
  ColumnKind
>;
const NAMES = Object.keys(COLUMNS) as (keyof EventRow)[];
const insertEvents = prepareInsert('audit_events', COLUMNS);

/**
 * Records a change in the audit log, in its transaction and after it (ADR 17). `before` and `after` must hold no
 * secret.
 */
export async function recordEvent(tx: Transaction, by: ChangeContext, change: AuditedChange): Promise<void> {
  await insertEvent(tx, toRow({ by, change }));
}

/**
 * Records the export of a list as a file.
 * @param after the filters of the export
 */
export function recordExport(
  tx: Transaction,
  by: ChangeContext<Caller>,
  action: ExportAction,
  after: object,
): Promise<void> {
  const { organizationId } = by.actor;
  return recordEvent(tx, by, { ...exportedObject(action), organizationId, before: null, after });
}

export interface AttributedChange {
  by: ChangeContext;
  change: AuditedChange;
}

export async function recordEvents(tx: Transaction, changes: readonly AttributedChange[]): Promise<void> {
  await insertEvents(
    tx,
    changes.map((change) => {
      const row = toRow(change);
      return NAMES.map((name) => row[name]);
    }),
  );
}

const { object_id: _each, ...COMMON } = COLUMNS;
const COMMON_NAMES = Object.keys(COMMON) as (keyof typeof COMMON)[];
const insertEventForEach = prepareBatchInsert('audit_events', COMMON, { column: 'object_id', kind: 'text' });

/**
 * Records one event for each object of a change.
 * @param change the change of one of the objects
 * @param ids the ids of all objects
 */
export async function recordEventForEach(
  tx: Transaction,
  by: ChangeContext,
  change: AuditedChange,
  ids: readonly number[],
): Promise<void> {
  const row = toRow({ by, change });
  await insertEventForEach(
    tx,
    COMMON_NAMES.map((name) => row[name]),
    ids,
  );
}

function toRow({ by: { actor, now }, change }: AttributedChange): EventRow {
  const { action, object, organizationId, before, after, internal = false } = change;
  return {
    at: now,
    action,
    object_type: object[0],
    object_id: object[1] === null ? null : String(object[1]),
    organization_id: organizationId,
    actor_kind: actor.kind,
    user_id: actor.userId,
    credential_id: actor.credentialId,
    address: actor.address,
    request_id: actor.requestId,
    before: auditJson(before),
    after: auditJson(after),
    internal: internal ? 1 : 0,
  };
}

/** @returns the value as JSON with long texts truncated; `null` for `null` */
export function auditJson(value: unknown): string | null {
  if (value === null) return null;
  const text = JSON.stringify(value);
  // No text inside can be longer than the whole.
  return text.length <= MAX_TEXT_LENGTH ? text : JSON.stringify(value, truncate);
}

function truncate(_key: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= MAX_TEXT_LENGTH) return value;
  // Drop half of a surrogate pair.
  return value.slice(0, MAX_TEXT_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
}
