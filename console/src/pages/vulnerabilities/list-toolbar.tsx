import { ChoiceMenu } from '../../components/choice-menu.tsx';
import { DisplayMenu } from '../../components/display-menu.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { commonMessages } from '../../components/messages.ts';
import {
  filterValues,
  type VulnerabilityListParamsChange,
  toFilterParam,
  type VulnerabilityListParams,
} from '../../app/search-params.ts';
import type { Grouping } from '../../queries/grouped-vulnerabilities.ts';
import { useVulnerabilityTable } from './columns.tsx';
import { useVulnerabilityFilters } from './filters.tsx';
import { vulnerabilityListMessages as messages } from './messages.ts';
import classes from './vulnerability-list.module.css';

export const DEFAULT_SORT = '-resolved_at';
export const DEFAULT_GROUPING: Grouping = 'severity';

interface ListToolbarProps {
  /** Filters, sort order and columns. */
  params: Omit<VulnerabilityListParams, 'open'>;
  onFilter: (change: VulnerabilityListParamsChange) => void;
  /** Replaces all parameters. */
  onParams: (params: VulnerabilityListParams) => void;
}

/** Search, filters and columns of the list. */
export function ListToolbar({ params, onFilter, onParams }: ListToolbarProps) {
  const filters = useVulnerabilityFilters();
  const { columns } = useVulnerabilityTable();
  return (
    <FilterBar
      filters={filters}
      values={Object.fromEntries(filters.map(({ name }) => [name, filterValues(params, name)]))}
      onChange={(name, values) => onFilter(toFilterParam(name, values))}
      search={params.search}
      searchLabel={messages.searchLabel}
      onSearch={(text) => onFilter({ search: text === '' ? undefined : text })}
    >
      <div className={classes.display}>
        <ChoiceMenu
          label={commonMessages.display.group}
          choices={messages.groupings}
          value={params.group ?? DEFAULT_GROUPING}
          onChange={(group) => onFilter({ group: group as Grouping })}
        />
        <ChoiceMenu
          label={commonMessages.display.sort}
          choices={messages.orders}
          value={params.sort ?? DEFAULT_SORT}
          onChange={(sort) => onFilter({ sort })}
        />
        <DisplayMenu
          columns={columns}
          selected={params.columns}
          required="title"
          onChange={(selected) =>
            onParams({ ...params, columns: selected && [...selected] } as VulnerabilityListParams)
          }
        />
      </div>
    </FilterBar>
  );
}
