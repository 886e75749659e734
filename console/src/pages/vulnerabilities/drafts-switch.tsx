import { Group, SegmentedControl } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { hashKey, keepPreviousData, useQuery } from '@tanstack/react-query';
import { type VulnerabilitySearch, vulnerabilityTotalQuery } from '../../queries/vulnerabilities.ts';
import { useIsStaff } from '../../session/permissions.ts';
import { vulnerabilityListMessages as messages } from './messages.ts';

/** Milliseconds; counts only once the user has stopped typing. */
const COUNT_DEBOUNCE = 300;

interface DraftsSwitchProps {
  /** The filters of the list. */
  search: VulnerabilitySearch;
  onChange: (draft: true | undefined) => void;
}

/** For staff: narrows a list to its drafts, and tells their number. */
export function DraftsSwitch({ search, onChange }: DraftsSwitchProps) {
  const isStaff = useIsStaff() === true;
  const { sort: _, ...filter } = search;
  const counted = { ...filter, draft: true };
  const key = hashKey([counted]);
  const [debouncedKey] = useDebouncedValue(key, COUNT_DEBOUNCE);
  const { data: count } = useQuery({
    ...vulnerabilityTotalQuery(counted),
    enabled: isStaff && key === debouncedKey,
    placeholderData: keepPreviousData,
  });
  if (!isStaff) return null;
  return (
    <Group>
      <SegmentedControl
        size="xs"
        aria-label={messages.shown}
        value={search.draft === true ? 'drafts' : 'all'}
        data={[
          { value: 'all', label: 'All' },
          { value: 'drafts', label: messages.drafts(count) },
        ]}
        onChange={(value) => onChange(value === 'drafts' ? true : undefined)}
      />
    </Group>
  );
}
