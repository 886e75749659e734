import type { AuditEvent } from '../../api/client.ts';

const MINUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

const KINDS = {
  user: 'Somebody who was deleted',
  client: 'An application',
  command_line: 'The command line',
  system: 'Assay itself',
  stranger: 'Somebody not signed in',
} as const;

/** @returns who did it, in words */
export function actorText({ kind, email }: AuditEvent['actor']): string {
  return email ?? KINDS[kind];
}

/** One member of what was changed. */
export interface Difference {
  name: string;
  before: string | undefined;
  after: string | undefined;
}

/** @returns what an event changed, member by member; `undefined` on a side that has none */
export function differences({ before, after }: Pick<AuditEvent, 'before' | 'after'>): Difference[] {
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
