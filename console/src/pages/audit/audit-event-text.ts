import type { AuditEvent } from '../../queries/client.ts';
import { auditMessages } from './messages.ts';

/** Members that may contain the name of an object, in order of preference. */
const NAME_MEMBERS = ['title', 'name', 'email', 'location', 'filename'];

export function actorText({ kind, email }: AuditEvent['actor']): string {
  return email ?? auditMessages.actors[kind];
}

/** The object of an event. */
export interface AuditObject {
  type: string;
  id: string | null;
  /** Its name as recorded in the event. */
  name: string | undefined;
  isGone: boolean;
}

/** @returns the object of an event; for a part of a vulnerability, such as a comment, the vulnerability */
export function auditObjectOf(event: AuditEvent): AuditObject {
  const { action, object_type: type, object_id: id } = event;
  const sides = recordedValues(event);
  if (typeof sides.vulnerability === 'number')
    return { type: 'vulnerability', id: String(sides.vulnerability), name: undefined, isGone: false };
  const values: Record<string, unknown> = { ...(sides.file as object | undefined), ...sides };
  const name = NAME_MEMBERS.map((member) => values[member]).find(
    (value) => typeof value === 'string' && value !== '',
  );
  return { type, id, name: name as string | undefined, isGone: action.endsWith('.delete') };
}

/** @returns the values that an event records: those after the change, and those before of members without any */
export const recordedValues = ({ before, after }: AuditEvent) =>
  ({ ...(before as object), ...(after as object) }) as Readonly<Record<string, unknown>>;

/** @returns the sentence of an event, with placeholders */
export function sentenceOf({ action, after }: AuditEvent): string {
  const { status_id, draft } = (after ?? {}) as { status_id?: number; draft?: boolean };
  if (action !== 'vulnerability.update') return auditMessages.sentences[action];
  if (status_id !== undefined) return auditMessages.statusSet;
  return draft === false ? auditMessages.published : auditMessages.sentences[action];
}

/** The value of a member on one side of an event: a text, or the objects that it refers to. */
export type MemberValue = string | { type: string; items: readonly Reference[] } | undefined;

interface Reference {
  id: string;
  /** Further values that the event records with the id, such as a role. */
  detail: string;
}

interface Difference {
  name: string;
  before: MemberValue;
  after: MemberValue;
}

/** Types of the objects that members refer to by id or uid. */
const REFERENCES: Readonly<Record<string, string>> = {
  status_id: 'status',
  assignee_id: 'user',
  user: 'user',
  members: 'user',
  tester: 'user',
  group_id: 'assessment-group',
  assessment: 'assessment',
  assessments: 'assessment',
  asset_uids: 'asset',
};

/** @returns the members that an event changed, with their values before and after */
export function changedMembers({
  object_type: type,
  before,
  after,
}: Pick<AuditEvent, 'object_type' | 'before' | 'after'>): Difference[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const valueOf = (side: object | null, name: string): MemberValue => {
    const value = (side as Record<string, unknown> | null)?.[name];
    const reference =
      name === 'tags' && (type === 'vulnerability' || type === 'assessment')
        ? `${type}-tag`
        : REFERENCES[name];
    const items = referencesIn(value);
    return reference === undefined || items === undefined
      ? valueText(name, value)
      : { type: reference, items };
  };
  return [...names].map((name) => ({
    name: name
      .replace(/_id$/, '')
      .replace(/_uids$/, 's')
      .replaceAll('_', ' '),
    before: valueOf(before, name),
    after: valueOf(after, name),
  }));
}

/** @returns the objects in a value that refers to some, such as `4` and `[{ user: 4, role: 'admin' }]` */
function referencesIn(value: unknown): readonly Reference[] | undefined {
  const items = [value].flat().map((item: unknown) => {
    const { user: id, ...details } =
      typeof item === 'object' && item !== null ? (item as { user?: unknown }) : { user: item };
    if (typeof id !== 'number' && (typeof id !== 'string' || id === '')) return undefined;
    return { id: String(id), detail: Object.values(details).join(', ') };
  });
  return items.length === 0 || items.includes(undefined) ? undefined : (items as Reference[]);
}

const SECOND = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

function valueText(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return 'none';
  // Milliseconds since the epoch.
  if (typeof value === 'number' && name.endsWith('_at')) return SECOND.format(value);
  if (typeof value === 'string') return value === '' ? '(empty)' : value;
  if (Array.isArray(value) && value.length === 0) return 'none';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ');
  return JSON.stringify(value, undefined, 2);
}
