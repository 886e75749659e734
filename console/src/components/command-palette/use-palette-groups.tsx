import { IconBolt, IconList } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { organizationSearch, useNavItems, useReadsVulnerabilities } from '../../app/nav-items.ts';
import { recentFindings } from '../../app/recent-findings.ts';
import type { Shortcuts } from '../../app/shortcuts.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import { useSelectedOrganization } from '../../session/selected-organization.ts';
import type { Choice, ChoiceGroup } from './choice.ts';
import { paletteMessages as messages } from './messages.ts';
import { KINDS, readFindingsById, SEARCH_KINDS, type SearchKind } from './search-kinds.tsx';
import { type Matches, useMatches } from './use-matches.ts';

/** Rows of each kind, and of a kind that is searched alone. */
const MAX_ROWS = 5;
const MAX_ROWS_ALONE = 20;

interface PaletteSearch {
  text: string;
  /** The only kind to search. */
  kind: SearchKind | undefined;
  actions: Shortcuts;
  showsKeys: boolean;
}

interface PaletteGroups {
  groups: readonly ChoiceGroup[];
  /** The kinds that the reader may search. */
  kinds: readonly SearchKind[];
  /** How many matches there are, in words. */
  status: string;
  isPending: boolean;
}

/** The groups of the palette: recent findings and pages, or the matches of a text. */
export function usePaletteGroups({ text, kind, actions, showsKeys }: PaletteSearch): PaletteGroups {
  const kinds = useSearchableKinds();
  const size = kind === undefined ? MAX_ROWS : MAX_ROWS_ALONE;
  const isSearched = (searched: SearchKind) =>
    kinds.includes(searched) && (kind === undefined ? text !== '' : kind === searched);
  const all = [
    useMatches('findings', text, size, isSearched('findings')),
    useMatches('assets', text, size, isSearched('assets')),
    useMatches('assessments', text, size, isSearched('assessments')),
    useMatches('people', text, size, isSearched('people')),
    useMatches('tags', text, size, isSearched('tags')),
  ].filter((matches) => matches.isSearched);
  const recent = useRecentFindings(kinds.includes('findings') && text === '' && kind === undefined);
  const pages = usePages(showsKeys);
  const isMatch = ({ name }: Choice) => name.toLowerCase().includes(text.toLowerCase());
  const local: ChoiceGroup[] =
    kind === undefined
      ? [
          { name: 'pages', label: messages.pages, choices: pages.filter(isMatch) },
          {
            name: 'actions',
            label: messages.actions,
            choices:
              text === '' ? [] : toChoices(actions, showsKeys, pages).filter(isMatch).slice(0, MAX_ROWS),
          },
        ]
      : [];
  const failed = all.filter(({ isFailed }) => isFailed).map((matches) => messages[matches.kind]);
  const counts = all
    .filter(({ choices }) => choices.length > 0)
    .map(({ choices, hasMore, kind: counted }) =>
      messages.count(choices.length, hasMore, messages.unit[counted]),
    );
  return {
    groups: [
      { name: 'recent', label: messages.recent, choices: recent },
      ...all.map((matches) => toGroup(matches, text)),
      ...local,
    ].filter(({ choices }) => choices.length > 0),
    kinds,
    status: [counts.join(', '), failed.length === 0 ? '' : messages.failed(failed)]
      .filter(Boolean)
      .join('. '),
    isPending: all.some(({ isPending }) => isPending),
  };
}

/** The API refuses the others to the reader. */
function useSearchableKinds(): readonly SearchKind[] {
  const { data: user } = useQuery(currentUserQuery);
  const readsVulnerabilities = useReadsVulnerabilities();
  return SEARCH_KINDS.filter((kind) => {
    if (kind === 'people') return user?.admin === true;
    return readsVulnerabilities || (kind !== 'findings' && kind !== 'tags');
  });
}

function toGroup({ kind, choices, hasMore }: Matches, text: string): ChoiceGroup {
  const label = messages[kind];
  const showAll: Choice = {
    key: `all-${kind}`,
    mark: <IconList size={16} stroke={1.75} aria-hidden />,
    name: text === '' ? messages.showAllOf(label) : messages.showAll(label, text),
    link: KINDS[kind].listOf(text === '' ? {} : { search: text }),
  };
  // A list of findings is also where several are edited.
  const hasList = hasMore || (kind === 'findings' && choices.length > 0);
  return { name: kind, label, choices: hasList ? [...choices, showAll] : choices };
}

function useRecentFindings(isShown: boolean): readonly Choice[] {
  const [ids] = useState(() => recentFindings().slice(0, MAX_ROWS));
  const { data } = useQuery({
    queryKey: ['palette', 'recent', ids],
    queryFn: ({ signal }) => readFindingsById(ids, signal),
    enabled: isShown && ids.length > 0,
  });
  return isShown ? (data ?? []) : [];
}

function usePages(showsKeys: boolean): Choice[] {
  const organization = useSelectedOrganization();
  return useNavItems().map((item) => ({
    key: `page-${item.key}`,
    mark: <item.icon size={16} stroke={1.75} aria-hidden />,
    name: item.label,
    ...(showsKeys ? { shortcut: `g ${item.key}` } : {}),
    link: { to: item.to, search: organizationSearch(item, organization) },
  }));
}

/** The actions of the page; the pages and the palette itself are no actions. */
const toChoices = (actions: Shortcuts, showsKeys: boolean, pages: readonly Choice[]): Choice[] =>
  Object.entries(actions)
    .filter(
      ([keys]) => !/^(\/|Ctrl K)$/.test(keys) && !pages.some(({ key }) => `page-${keys.slice(2)}` === key),
    )
    .map(([keys, { label, run }]) => ({
      key: `action-${keys}`,
      mark: <IconBolt size={16} stroke={1.75} aria-hidden />,
      name: label,
      ...(showsKeys ? { shortcut: keys } : {}),
      run,
    }));
