import type { VulnerabilitySearch } from '../../api/vulnerabilities.ts';
import { SEVERITIES, type Severity } from '../../parts/severity-mark.tsx';

/** Of the list's address: its filters, its order, and the one that is open beside it. */
export type ListAddress = VulnerabilitySearch & { open?: number };

const NUMBERS = [
  'status_id',
  'tag_id',
  'assessment_group_id',
  'import_id',
  'created_by',
  'assignee_id',
] as const;
const TEXTS = ['tag', 'assessment_id', 'asset_uid', 'source', 'cve'] as const;
const DATES = ['due_until', 'updated_since', 'created_since'] as const;
const PHASES = ['new', 'open', 'closed'] as const;
const RETESTS = ['requested', 'verified', 'failed', 'blocked', 'cancelled'] as const;

/** Reads the list's address; what is none of its parameters, or of the wrong kind, is left out. */
export function searchOf(given: Record<string, unknown>): ListAddress {
  const list = (name: string): unknown[] =>
    given[name] === undefined ? [] : Array.isArray(given[name]) ? given[name] : [given[name]];
  const found: Record<string, unknown> = {};
  const keep = (name: string, values: readonly unknown[]) => {
    if (values.length > 0) found[name] = values;
  };
  for (const name of NUMBERS) keep(name, list(name).map(Number).filter(Number.isInteger));
  for (const name of TEXTS) keep(name, list(name).map(String));
  keep(
    'severity',
    list('severity').filter((value) => SEVERITIES.includes(value as Severity)),
  );
  keep(
    'phase',
    list('phase').filter((value) => PHASES.includes(value as (typeof PHASES)[number])),
  );
  keep(
    'retest',
    list('retest').filter((value) => RETESTS.includes(value as (typeof RETESTS)[number])),
  );
  for (const name of DATES) if (typeof given[name] === 'string') found[name] = given[name];
  for (const name of ['search', 'sort'] as const)
    if ((typeof given[name] === 'string' || typeof given[name] === 'number') && given[name] !== '')
      found[name] = String(given[name]);
  if (Number.isInteger(given.open)) found.open = given.open;
  return found as ListAddress;
}
