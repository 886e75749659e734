import type { AuditEvent } from '../../queries/client.ts';

const MINUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

const ACTOR_LABELS = {
  user: 'Somebody who was deleted',
  client: 'An application',
  command_line: 'The command line',
  system: 'Assay itself',
  stranger: 'Somebody not signed in',
} as const;

/** Members of an object by which people know it. */
const NAME_MEMBERS = ['title', 'name', 'email', 'location', 'filename'];

/** @returns who did it, in words */
export function actorText({ kind, email }: AuditEvent['actor']): string {
  return email ?? ACTOR_LABELS[kind];
}

/** What an event was done to. */
export interface AuditObject {
  type: string;
  id: string | null;
  /** What of it: the comment of a vulnerability, which has no page of its own. */
  partType?: string;
  isGone: boolean;
}

/** @returns what an event was done to; of what belongs to a vulnerability, where that is told, the vulnerability */
export function auditObjectOf({ action, object_type, object_id, before, after }: AuditEvent): AuditObject {
  const { vulnerability } = { ...(before as object), ...(after as object) } as { vulnerability?: unknown };
  if (typeof vulnerability === 'number')
    return { type: 'vulnerability', id: String(vulnerability), partType: object_type, isGone: false };
  return { type: object_type, id: object_id, isGone: action.endsWith('.delete') };
}

/** @returns the name that an event itself tells of its object; `undefined` when none */
export function objectNameIn({ before, after, ...event }: AuditEvent): string | undefined {
  if (auditObjectOf({ ...event, before, after }).partType !== undefined) return undefined;
  const members = { ...(before as object), ...(after as object) } as { file?: object };
  const told: Record<string, unknown> = { ...members.file, ...members };
  const name = NAME_MEMBERS.map((member) => told[member]).find(
    (value) => typeof value === 'string' && value !== '',
  );
  return name as string | undefined;
}

/** One member of what was changed. */
export interface Difference {
  name: string;
  before: string | undefined;
  after: string | undefined;
}

/** @returns what an event changed, member by member; `undefined` on a side that has none */
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
  // Milliseconds since 1970.
  if (typeof value === 'number' && name.endsWith('_at')) return MINUTE.format(value);
  if (typeof value === 'string') return value === '' ? '(empty)' : value;
  if (Array.isArray(value) && value.length === 0) return 'none';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ');
  return JSON.stringify(value, undefined, 2);
}
