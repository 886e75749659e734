import { useCallback, useMemo } from 'react';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { SeverityMark, StatusMark } from '../../components/marks.tsx';
import { useRowGroups } from '../../components/row-groups.tsx';
import type { Severity } from '../../queries/enums.ts';
import { type Grouping, useGroupedVulnerabilities } from '../../queries/grouped-vulnerabilities.ts';
import type { VulnerabilityRow, VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import { rowMatches } from './row-matches.ts';

interface GroupLabelProps {
  grouping: Grouping;
  id: string;
}

function GroupLabel({ grouping, id }: GroupLabelProps) {
  if (grouping === 'severity') return <SeverityMark severity={id as Severity} withLabel />;
  if (grouping === 'status') return <StatusMark id={Number(id)} withLabel />;
  return <AssessmentName uid={id} />;
}

/** The rows of a search with the heads of their groups, and whether a row still matches it after an edit. */
export function useGroupedRows(search: VulnerabilitySearch, grouping: Grouping) {
  const { list, groups: rowGroups } = useGroupedVulnerabilities(search, grouping);
  const groups = useRowGroups(
    useMemo(
      () => rowGroups.map((group) => ({ ...group, label: <GroupLabel grouping={grouping} id={group.id} /> })),
      [rowGroups, grouping],
    ),
    list.total,
  );
  const matches = useCallback(
    (row: VulnerabilityRow) => rowMatches(row, search, grouping),
    [search, grouping],
  );
  return { list, groups, matches };
}
