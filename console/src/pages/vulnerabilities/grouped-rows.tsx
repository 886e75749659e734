import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { OrganizationMark } from '../../components/identity-marks.tsx';
import { SeverityMark, StatusMark } from '../../components/marks.tsx';
import { useRowGroups } from '../../components/row-groups.tsx';
import { assessmentQuery } from '../../queries/assessments.ts';
import type { Severity } from '../../queries/enums.ts';
import { type Grouping, useGroupedVulnerabilities } from '../../queries/grouped-vulnerabilities.ts';
import { organizationsQuery } from '../../queries/organizations.ts';
import type { VulnerabilityRow, VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import { useIsStaff } from '../../session/permissions.ts';
import { rowMatches } from './row-matches.ts';

interface GroupLabelProps {
  grouping: Grouping;
  id: string;
}

function GroupLabel({ grouping, id }: GroupLabelProps) {
  if (grouping === 'severity') return <SeverityMark severity={id as Severity} withLabel />;
  if (grouping === 'status') return <StatusMark id={Number(id)} withLabel />;
  return <AssessmentLabel uid={id} />;
}

/** The name of an assessment, for staff with the mark of its organization. */
function AssessmentLabel({ uid }: { uid: string }) {
  const isStaff = useIsStaff() === true;
  const { data: assessment } = useQuery({ ...assessmentQuery(uid), enabled: isStaff });
  const { data: organizations } = useQuery({ ...organizationsQuery, enabled: isStaff });
  const organization = organizations?.find((one) => one.uid === assessment?.organization_uid);
  return (
    <>
      {organization !== undefined && <OrganizationMark organization={organization} size="sm" />}
      <AssessmentName uid={uid} />
    </>
  );
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
