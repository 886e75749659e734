import type { ReactNode, MouseEvent } from 'react';
import { type HistoryState, useRouter } from '@tanstack/react-router';
import classes from './data-table.module.css';
import { personName } from '../queries/people.ts';

/** A column of a table. */
export interface Column<Row> {
  id: string;
  header: string;
  /** Explains the header, as a tooltip. */
  description?: string;
  /** Grid track: `120px`, `minmax(200px, 1fr)`. */
  width: string;
  cell: (row: Row) => ReactNode;
  /** The sort name in the API, if the list can be sorted by it. */
  sort?: string;
  /** Minimum width of the table, in pixels, at which the column is shown. */
  minTableWidth?: number;
  isHiddenByDefault?: boolean;
  hidesHeader?: boolean;
  /** Whether it is aligned at its end, so that digits are below each other. */
  isNumeric?: boolean;
  /** Variant for tables narrower than `below` pixels, by default 400. */
  narrow?: { below?: number; width?: string; cell: (row: Row) => ReactNode; hidesHeader?: boolean };
}

/** Ids of the selected rows. */
export interface RowSelection {
  selected: ReadonlySet<string>;
  onChange: (selected: ReadonlySet<string>) => void;
}

/** @returns the ids, with this one added or removed */
export function toggleId(selected: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(id)) next.add(id);
  return next;
}

interface RowLinkProps {
  /** Path in the console. */
  to: string;
  title?: string;
  /** @returns the history state of the linked page, given the address of the list */
  state?: (list: string) => HistoryState;
  children: ReactNode;
}

/** A link in a row. It skips the router's Link, which is too slow for the hundreds drawn while scrolling. */
export function RowLink({ to, title, state, children }: RowLinkProps) {
  const router = useRouter();
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void router.navigate({ to, ...(state && { state: state(router.latestLocation.href) }) });
  };
  return (
    <a href={to} title={title} dir="auto" className={classes.link} onClick={open}>
      {children}
    </a>
  );
}

interface StackedCellProps {
  /** Shown below, in a smaller size. */
  secondary: ReactNode;
  children: ReactNode;
}

/** Two values in one cell, for tables too narrow for two columns. */
export function StackedCell({ secondary, children }: StackedCellProps) {
  return (
    <>
      <div className={classes.line}>{children}</div>
      <div className={classes.second}>{secondary}</div>
    </>
  );
}

interface Person {
  id: number;
  name?: string | null;
  email: string;
}

/** A column with names of people, linked to their pages; in a narrow table also their email addresses. */
export function personNameColumn(width: string): Column<Person> {
  const link = (person: Person) => (
    <RowLink to={`/people/${person.id}`} title={personName(person)}>
      {personName(person)}
    </RowLink>
  );
  return {
    id: 'name',
    header: 'Name',
    width,
    cell: link,
    narrow: {
      cell: (person) => <StackedCell secondary={<bdi>{person.email}</bdi>}>{link(person)}</StackedCell>,
    },
  };
}
