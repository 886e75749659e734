import { omitUndefined, parseEnum, parseIntegers, parseText, parseTexts } from '../../app/search-params.ts';
import type { AssessmentSearch } from '../../queries/assessments.ts';
import { ASSESSMENT_STATES } from '../../queries/enums.ts';

const TABS = ['vulnerabilities', 'assets', 'hours', 'people'] as const;
export type AssessmentTab = (typeof TABS)[number];

/** Parses the list's search parameters; unknown ones and values of a wrong type are dropped. */
export function parseAssessmentSearch(given: Record<string, unknown>): AssessmentSearch {
  // The API filters by one group at most: the last selected one wins.
  const group = parseIntegers(given.assessment_group_id)?.at(-1) ?? 0;
  return omitUndefined({
    state: parseEnum(given.state, ASSESSMENT_STATES),
    tag_id: parseIntegers(given.tag_id),
    assessment_group_id: group > 0 ? group : undefined,
    organization_uid: parseTexts(given.organization_uid),
    search: parseText(given.search),
    sort: parseText(given.sort),
  });
}

/** Parses the page's search parameters: the selected tab. */
export function parseAssessmentTab({ show }: Record<string, unknown>): { show?: AssessmentTab } {
  return TABS.includes(show as AssessmentTab) ? { show: show as AssessmentTab } : {};
}
