import { groupFilter, type Grouping } from '../../queries/grouped-vulnerabilities.ts';
import { phaseOf } from '../../queries/statuses.ts';
import type { VulnerabilityRow, VulnerabilitySearch } from '../../queries/vulnerabilities.ts';

/**
 * Whether a row still matches the filters of its list, and is still of its group, after an edit in this list. Compares
 * the fields that an edit changes.
 */
export function rowMatches(row: VulnerabilityRow, search: VulnerabilitySearch, grouping: Grouping): boolean {
  const isOneOf = <Value>(wanted: readonly Value[] | undefined, values: readonly (Value | undefined)[]) =>
    wanted === undefined || values.some((value) => value !== undefined && wanted.includes(value));
  const matches = ({ phase, status_id, severity, assignee_id, tag, due_until }: VulnerabilitySearch) =>
    isOneOf(phase, [phaseOf(row.status_id)]) &&
    isOneOf(status_id, [row.status_id]) &&
    isOneOf(severity, [row.severity]) &&
    isOneOf(assignee_id, [row.assignee?.id]) &&
    isOneOf(
      tag,
      row.tags.map(({ name }) => name),
    ) &&
    (due_until === undefined || (row.due_on !== null && row.due_on < due_until));
  return matches(search) && (row.group === undefined || matches(groupFilter(grouping, row.group)));
}
