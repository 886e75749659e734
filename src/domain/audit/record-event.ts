import type { Attribution, Caller } from '../../auth/callers.ts';
import { type ColumnKind, prepareInsert, prepareInsertVarying } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/engine.ts';
import { preparePipelined } from '../../db/prepared-queries.ts';
import { type ChangedObject, type ExportAction, type ExportedObject, exportedBy } from './actions.ts';

/** The most characters of a text within what an event tells. */
const MAX_TEXT_LENGTH = 4_096;

/** What was done to what, and what it replaced. */
export type AuditedChange = (ChangedObject | ExportedObject) & {
  organizationId: number | null;
  /** What the change replaced; `null` where there was nothing. */
  before: unknown;
  /** What stands there now; `null` where nothing does. */
  after: unknown;
};

interface EventRow {
  at: number;
  action: string;
  object_type: string;
  object_id: string | null;
  organization_id: number | null;
  actor_kind: string;
  user_id: number | null;
  credential_id: string | null;
  address: string | null;
  request_id: string;
  before: string | null;
  after: string | null;
}

const insertEvent = preparePipelined<EventRow>((tx, p) =>
  tx.insertInto('events').values({
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
  }),
);

/** What changes and refusals tell alike. */
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

const COLUMNS = { ...EVENT_COLUMNS, before: 'text' } as const satisfies Record<keyof EventRow, ColumnKind>;
const NAMES = Object.keys(COLUMNS) as (keyof EventRow)[];
const insertEvents = prepareInsert('events', COLUMNS);

/**
 * Writes a change to the audit log, in the transaction that makes it and after the change itself (ADR 17). Neither side
 * may hold a secret.
 */
export async function recordEvent(tx: Transaction, by: Attribution, change: AuditedChange): Promise<void> {
  await insertEvent(tx, toRow({ by, change }));
}

/**
 * Writes to the audit log that somebody has taken a list out as a file.
 * @param after what they chose
 */
export function recordExport(
  tx: Transaction,
  act: Attribution<Caller>,
  action: ExportAction,
  after: object,
): Promise<void> {
  const { organizationId } = act.actor;
  return recordEvent(tx, act, { ...exportedBy(action), organizationId, before: null, after });
}

/** A change and who made it. */
export interface AttributedChange {
  by: Attribution;
  change: AuditedChange;
}

/** The same for many changes of one unit of work. */
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
const insertEventForEach = prepareInsertVarying('events', COMMON, { column: 'object_id', kind: 'text' });

/**
 * The same for one change that was made to many: an event each.
 * @param change whose object is one of them
 * @param ids of all of them
 */
export async function recordEventForEach(
  tx: Transaction,
  by: Attribution,
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
  const { action, object, organizationId, before, after } = change;
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
  };
}

/** @returns what an event tells, as JSON whose texts are cut; `null` for nothing */
export function auditJson(value: unknown): string | null {
  if (value === null) return null;
  const text = JSON.stringify(value);
  // No text in it can be longer than the whole.
  return text.length <= MAX_TEXT_LENGTH ? text : JSON.stringify(value, truncate);
}

function truncate(_key: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= MAX_TEXT_LENGTH) return value;
  // Half of a character outside the first plane is none.
  return value.slice(0, MAX_TEXT_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
}
