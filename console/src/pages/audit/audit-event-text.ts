import type { AuditEvent } from '../../queries/client.ts';
import { auditMessages } from './messages.ts';

const MINUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Members that may contain the name of an object, in order of preference. */
const NAME_MEMBERS = ['title', 'name', 'email', 'location', 'filename'];

export function actorText({ kind, email }: AuditEvent['actor']): string {
  return email ?? auditMessages.actors[kind];
}

/** The object of an event. */
export interface AuditObject {
  type: string;
  id: string | null;
  /** Type of the affected part, such as a comment of a vulnerability, which has no page of its own. */
  partType?: string;
  isGone: boolean;
}

/** @returns the object of an event; for a part of a vulnerability, the vulnerability */
export function auditObjectOf({ action, object_type, object_id, before, after }: AuditEvent): AuditObject {
  const { vulnerability } = { ...(before as object), ...(after as object) } as { vulnerability?: unknown };
  if (typeof vulnerability === 'number')
    return { type: 'vulnerability', id: String(vulnerability), partType: object_type, isGone: false };
  return { type: object_type, id: object_id, isGone: action.endsWith('.delete') };
}

/** @returns the object's name as recorded in the event */
export function objectNameIn({ before, after, ...event }: AuditEvent): string | undefined {
  if (auditObjectOf({ ...event, before, after }).partType !== undefined) return undefined;
  const members = { ...(before as object), ...(after as object) } as { file?: object };
  const values: Record<string, unknown> = { ...members.file, ...members };
  const name = NAME_MEMBERS.map((member) => values[member]).find(
    (value) => typeof value === 'string' && value !== '',
  );
  return name as string | undefined;
}

interface Difference {
  name: string;
  before: string | undefined;
  after: string | undefined;
}

/** @returns the members that an event changed, with their values before and after */
export function changedMembers({ before, after }: Pick<AuditEvent, 'before' | 'after'>): Difference[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names].map((name) => ({
    name: name.replaceAll('_', ' '),
    before: valueText(name, (before as Record<string, unknown> | null)?.[name]),
    after: valueText(name, (after as Record<string, unknown> | null)?.[name]),
  }));
}

function valueText(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return 'none';
  // Milliseconds since the epoch.
  if (typeof value === 'number' && name.endsWith('_at')) return MINUTE.format(value);
  if (typeof value === 'string') return value === '' ? '(empty)' : value;
  if (Array.isArray(value) && value.length === 0) return 'none';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ');
  return JSON.stringify(value, undefined, 2);
}
