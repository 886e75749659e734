import { hashKey, keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { TabLinks } from '../../components/tab-links.tsx';
import { type AssessmentSearch, assessmentTotalQuery } from '../../queries/assessments.ts';
import { ASSESSMENT_STATES } from '../../queries/enums.ts';
import { assessmentMessages as messages } from './messages.ts';

const TABS = ['active', 'paused', 'completed', 'all'] as const;
type Tab = (typeof TABS)[number];

/** Milliseconds; counts only once the user has stopped typing. */
const COUNT_DEBOUNCE = 300;

/** @returns the states in the address of a tab; without any, it is that of the active assessments */
const statesOf = (tab: Tab): Pick<AssessmentSearch, 'state'> =>
  tab === 'active' ? {} : { state: tab === 'all' ? [...ASSESSMENT_STATES] : [tab] };

/** @returns the tab of an address; undefined if it has other states */
export const stateTabOf = ({ state }: AssessmentSearch): Tab | undefined =>
  state === undefined || state.join() === 'active'
    ? 'active'
    : ASSESSMENT_STATES.every((one) => state.includes(one))
      ? 'all'
      : TABS.find((tab) => state.join() === tab);

/** @returns the filters of an address as those of the API */
export function searchOfStateTab(search: AssessmentSearch): AssessmentSearch {
  const { state = ['active'], ...rest } = search;
  return stateTabOf(search) === 'all' ? rest : { ...rest, state };
}

/** Links to the assessments of a state, with their counts. */
export function AssessmentTabs({ search }: { search: AssessmentSearch }) {
  const { sort: _, state: __, ...filter } = search;
  const counts: Readonly<Record<Tab, number | undefined>> = {
    active: useCount({ ...filter, state: ['active'] }),
    paused: useCount({ ...filter, state: ['paused'] }),
    completed: useCount({ ...filter, state: ['completed'] }),
    all: useCount(filter),
  };
  const current = stateTabOf(search);
  return (
    <TabLinks
      label={messages.shown}
      tabs={TABS.map((tab) => ({
        label: messages.tabs[tab],
        count: counts[tab],
        isCurrent: tab === current,
        search: ({ state: _state, ...others }) => ({ ...others, ...statesOf(tab) }),
      }))}
    />
  );
}

function useCount(search: AssessmentSearch): number | undefined {
  const key = hashKey([search]);
  const [debouncedKey] = useDebouncedValue(key, COUNT_DEBOUNCE);
  const { data } = useQuery({
    ...assessmentTotalQuery(search),
    enabled: key === debouncedKey,
    placeholderData: keepPreviousData,
  });
  return data;
}
