/** Something that can be chosen in a filter. */
export interface Option {
  value: string;
  label: string;
}

/** One filter of a list. */
export interface FilterDefinition {
  /** Of the address: `status_id`. */
  name: string;
  /** In words: "Status". */
  label: string;
  /** What can be chosen: a few that are known, what a search finds, or one day of the calendar. */
  options: readonly Option[] | ((search: string, signal: AbortSignal) => Promise<readonly Option[]>) | 'day';
  /** What the word means, where it does not say it. */
  description?: string;
  /** @returns how a chosen value is called, where the options have not been read; the value unless told */
  loadLabel?: (value: string, signal: AbortSignal) => Promise<string>;
  /** What can be typed, where that is no part of a name: "192.0.2.0/24". */
  placeholder?: string;
}

/** One filter, and what is chosen of it. */
export interface FilterProps {
  filter: FilterDefinition;
  values: readonly string[];
  onChange: (name: string, values: readonly string[]) => void;
}
