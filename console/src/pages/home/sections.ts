import { useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useReadsVulnerabilities } from '../../app/nav-items.ts';
import { firstVulnerabilitiesQuery, SECTION_ROWS, type SectionRow } from '../../queries/home.ts';
import { OPEN_SEARCH, type VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import { useOfOrganization } from '../../session/selected-organization.ts';
import { currentUserQuery, type Permissions, usePermissions } from '../../session/permissions.ts';
import { homeMessages } from './messages.ts';
import { daysFromToday, recordVisit } from './dates.ts';

/** Who reads the page. */
export type Reader = 'staff' | 'admin' | 'member' | 'reader' | 'infrastructure';

export type SectionName = keyof typeof homeMessages.sections;

const SECTIONS: Readonly<Record<Reader, readonly SectionName[]>> = {
  admin: ['overdue', 'decisions', 'retested', 'new'],
  member: ['assigned', 'retested', 'decisions', 'new'],
  reader: ['new', 'overdue'],
  infrastructure: [],
  staff: ['waiting', 'drafts'],
};

/** A part of a section: the matches of a search, and its count as a sentence. */
interface Part {
  search: VulnerabilitySearch;
  count: (count: number) => string;
  isBad?: boolean;
}

export interface FindingSectionContent {
  name: SectionName;
  rows: readonly SectionRow[];
  parts: readonly (Part & { total: number })[];
  error: Error | null;
  retry: () => void;
}

/** Days in which a decided retest counts as one that came back. */
const RETEST_DAYS = 7;
const OPEN_STATUSES = [2, 3, 4];

/** @returns who reads the page; undefined until it is known */
export function useReader(): Reader | undefined {
  const { data: user } = useQuery(currentUserQuery);
  const { isKnown, allows } = usePermissions();
  const readsVulnerabilities = useReadsVulnerabilities();
  if (user === undefined || !isKnown) return undefined;
  if (user.staff) return 'staff';
  if (user.admin === true) return 'admin';
  if (!readsVulnerabilities) return 'infrastructure';
  return allows('comment') ? 'member' : 'reader';
}

/** @returns a search for what the user may triage; undefined if there is nothing */
function triageSearch(
  { allows }: Permissions,
  assessments: readonly string[] | undefined,
): VulnerabilitySearch | undefined {
  if (!allows('triage')) return undefined;
  const triaged = assessments?.filter((uid) => allows('triage', uid));
  return triaged === undefined || triaged.length === assessments?.length ? {} : { assessment_id: triaged };
}

/** @returns the sections with vulnerabilities, in order and without empty ones; undefined until all are read */
export function useSections(reader: Reader | undefined): readonly FindingSectionContent[] | undefined {
  const { data: user } = useQuery(currentUserQuery);
  const permissions = usePermissions();
  const ofOrganization = useOfOrganization();
  const [previousVisit] = useState(recordVisit);
  const [yesterday] = useState(() => daysFromToday(-1));
  const [lastWeek] = useState(() => new Date(`${daysFromToday(-RETEST_DAYS)}T00:00`).toISOString());
  const triaged = triageSearch(permissions, user?.accessible_assessment_ids);
  const { counts } = homeMessages;
  const parts: Readonly<Record<SectionName, readonly Part[]>> = {
    overdue: [
      {
        search: { ...OPEN_SEARCH, due_until: yesterday, sort: 'due_on' },
        count: counts.overdue,
        isBad: true,
      },
    ],
    decisions:
      triaged === undefined
        ? []
        : [
            { search: { ...triaged, status_id: [1], sort: '-severity' }, count: counts.review },
            { search: { ...triaged, status_id: OPEN_STATUSES, gone: true }, count: counts.gone },
          ],
    retested: [
      {
        search: {
          retest: ['verified', 'failed', 'blocked'],
          updated_since: lastWeek,
          sort: '-updated_at',
        },
        count: counts.retested,
      },
    ],
    new:
      previousVisit === undefined
        ? []
        : [{ search: { created_since: previousVisit, sort: '-resolved_at' }, count: counts.new }],
    assigned:
      user === undefined
        ? []
        : [{ search: { ...OPEN_SEARCH, assignee_id: [user.id], sort: 'due_on' }, count: counts.assigned }],
    waiting: [{ search: { retest: ['requested'], sort: 'updated_at' }, count: counts.waiting }],
    drafts: [{ search: { draft: true, sort: '-updated_at' }, count: counts.drafts }],
  };
  const shown =
    reader === undefined
      ? []
      : SECTIONS[reader].flatMap((name) =>
          parts[name].map((part) => ({ ...part, search: { ...part.search, ...ofOrganization }, name })),
        );
  const results = useQueries({ queries: shown.map(({ search }) => firstVulnerabilitiesQuery(search)) });
  if (reader === undefined || results.some(({ isPending }) => isPending)) return undefined;
  const read = shown.map((part, index) => ({ part, result: results[index] }));
  return SECTIONS[reader]
    .map((name) => {
      const own = read.filter(({ part }) => part.name === name);
      return {
        name,
        rows: own.flatMap(({ result }) => result?.data?.rows ?? []).slice(0, SECTION_ROWS),
        parts: own
          .map(({ part, result }) => ({ ...part, total: result?.data?.total ?? 0 }))
          .filter(({ total }) => total > 0),
        error: own.find(({ result }) => result?.data === undefined)?.result?.error ?? null,
        retry: () => own.forEach(({ result }) => void result?.refetch()),
      };
    })
    .filter(({ parts: filled, error }) => filled.length > 0 || error !== null);
}
