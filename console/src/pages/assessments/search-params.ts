import type { AssessmentSearch } from '../../queries/assessments.ts';

export const ASSESSMENT_STATES = ['pending', 'active', 'paused', 'completed'] as const;
export type AssessmentState = (typeof ASSESSMENT_STATES)[number];
const TABS = ['vulnerabilities', 'assets', 'hours', 'people'] as const;
export type AssessmentTab = (typeof TABS)[number];

/** Parses the list's search parameters; unknown ones and values of a wrong type are dropped. */
export function parseAssessmentSearch(given: Record<string, unknown>): AssessmentSearch {
  const list = (name: string): unknown[] =>
    given[name] === undefined ? [] : Array.isArray(given[name]) ? given[name] : [given[name]];
  const states = list('state').filter((value) => ASSESSMENT_STATES.includes(value as AssessmentState));
  const tags = list('tag_id').map(Number).filter(Number.isInteger);
  const organizations = list('organization_uid').map(String);
  const group = Number(given.assessment_group_id);
  const text = (name: 'search' | 'sort') => {
    const value = given[name];
    return (typeof value === 'string' && value !== '') || typeof value === 'number'
      ? { [name]: String(value) }
      : {};
  };
  return {
    ...(states.length === 0 ? {} : { state: states as string[] }),
    ...(tags.length === 0 ? {} : { tag_id: tags }),
    ...(Number.isInteger(group) && group > 0 ? { assessment_group_id: group } : {}),
    ...(organizations.length === 0 ? {} : { organization_uid: organizations }),
    ...text('search'),
    ...text('sort'),
  };
}

/** Parses the page's search parameters: the selected tab. */
export function parseAssessmentTab(given: Record<string, unknown>): { show?: AssessmentTab } {
  return TABS.includes(given.show as AssessmentTab) ? { show: given.show as AssessmentTab } : {};
}
