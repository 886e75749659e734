import { pluralize } from '../pluralize.ts';

/** Texts of the command palette. */
export const paletteMessages = {
  title: 'Search',
  field: 'Search everything',
  close: 'Esc: close',
  kinds: 'Search in',
  everything: 'Everything',
  results: 'Results',
  recent: 'Recent findings',
  pages: 'Pages',
  actions: 'Actions',
  findings: 'Findings',
  assets: 'Assets',
  assessments: 'Assessments',
  people: 'People',
  tags: 'Tags',
  unit: {
    findings: ['finding', 'findings'],
    assets: ['asset', 'assets'],
    assessments: ['assessment', 'assessments'],
    people: ['person', 'people'],
    tags: ['tag', 'tags'],
  },
  showAll: (kind: string, text: string) => `Show all ${kind.toLowerCase()} with “${text}”`,
  showAllOf: (kind: string) => `Show all ${kind.toLowerCase()}`,
  count: (count: number, isMore: boolean, [one, many]: readonly [string, string]) =>
    isMore ? `over ${count.toLocaleString()} ${many}` : pluralize(count, one, many),
  open: (count: number) => (count === 0 ? 'none open' : `${count.toLocaleString()} open`),
  affected: (count: number) => pluralize(count, 'finding'),
  nothing: (text: string) => `Nothing matches “${text}”`,
  searching: 'Searching',
  failed: (kinds: readonly string[]) =>
    `Could not search ${kinds.map((kind) => kind.toLowerCase()).join(', ')}.`,
  loadFailed: 'Could not open the search',
  hints: { choose: 'choose', open: 'open', newTab: 'new tab', narrow: 'narrow' },
} as const;
