import { useDebouncedValue } from '@mantine/hooks';
import { hashKey, keepPreviousData, useQuery } from '@tanstack/react-query';
import { TabLinks } from '../../components/tab-links.tsx';
import { PHASES } from '../../queries/enums.ts';
import {
  OPEN_SEARCH,
  type VulnerabilitySearch,
  vulnerabilityTotalQuery,
} from '../../queries/vulnerabilities.ts';
import { useIsStaff } from '../../session/permissions.ts';
import { vulnerabilityListMessages as messages } from './messages.ts';

type ListTab = 'open' | 'closed' | 'all' | 'drafts';

/** What each tab adds to the other filters in the address. Without it, a list shows open vulnerabilities. */
const TAB_FILTERS: Readonly<Record<ListTab, Pick<VulnerabilitySearch, 'phase' | 'draft'>>> = {
  open: {},
  closed: { phase: ['closed'] },
  all: { phase: [...PHASES] },
  drafts: { draft: true },
};

/** Milliseconds; counts only once the user has stopped typing. */
const COUNT_DEBOUNCE = 300;

/** @returns the tab of filters in the address */
export function tabOf({ phase = [], draft }: VulnerabilitySearch): ListTab {
  if (draft === true) return 'drafts';
  if (!phase.includes('closed')) return 'open';
  return phase.length === 1 ? 'closed' : 'all';
}

/** @returns the filters in the address as filters of the API */
export function searchOfTab(search: VulnerabilitySearch): VulnerabilitySearch {
  const { phase, ...rest } = search;
  const tab = tabOf(search);
  if (tab === 'drafts' || tab === 'all') return rest;
  return { ...rest, phase: phase ?? OPEN_SEARCH.phase ?? [] };
}

/** Links to the open, the closed and all vulnerabilities of a list, for staff also to its drafts, with their counts. */
export function ListTabs({ search }: { search: VulnerabilitySearch }) {
  const isStaff = useIsStaff() === true;
  const { sort: _, phase: __, draft: ___, ...filter } = search;
  const open = useCount({ ...filter, ...OPEN_SEARCH });
  const closed = useCount({ ...filter, ...TAB_FILTERS.closed });
  const drafts = useCount({ ...filter, ...TAB_FILTERS.drafts }, isStaff);
  const counts: Readonly<Record<ListTab, number | undefined>> = {
    open,
    closed,
    all: open === undefined || closed === undefined ? undefined : open + closed,
    drafts,
  };
  const current = tabOf(search);
  const tabs = (['open', 'closed', 'all', 'drafts'] as const).filter((tab) => tab !== 'drafts' || isStaff);
  return (
    <TabLinks
      label={messages.shown}
      tabs={tabs.map((tab) => ({
        label: messages.tabs[tab],
        count: counts[tab],
        isCurrent: tab === current,
        search: ({ open: _open, phase: _phase, draft: _draft, ...others }) => ({
          ...others,
          ...TAB_FILTERS[tab],
        }),
      }))}
    />
  );
}

function useCount(search: VulnerabilitySearch, isNeeded = true): number | undefined {
  const key = hashKey([search]);
  const [debouncedKey] = useDebouncedValue(key, COUNT_DEBOUNCE);
  const { data } = useQuery({
    ...vulnerabilityTotalQuery(search),
    enabled: isNeeded && key === debouncedKey,
    placeholderData: keepPreviousData,
  });
  return data;
}
