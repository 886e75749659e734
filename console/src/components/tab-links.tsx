import { Link } from '@tanstack/react-router';
import classes from './tab-links.module.css';

type Search = Record<string, unknown>;

interface TabLink {
  label: string;
  /** @returns the search parameters of the tab */
  search: (previous: Search) => Search;
  /** Undefined until it is known. */
  count?: number | undefined;
  isCurrent: boolean;
}

/** Tabs that change the address, beside the heading of a list. */
export function TabLinks({ label, tabs }: { label: string; tabs: readonly TabLink[] }) {
  return (
    <nav className={classes.tabs} aria-label={label}>
      {tabs.map(({ label: name, count, isCurrent, search }) => (
        <Link
          key={name}
          to="."
          search={search as never}
          replace
          activeOptions={{ exact: true }}
          aria-current={isCurrent ? 'page' : undefined}
          className={classes.tab}
        >
          {name}
          {count !== undefined && <span className={classes.count}>{count.toLocaleString()}</span>}
        </Link>
      ))}
    </nav>
  );
}
