import type { Migration } from './migration.ts';

/** In every form: hyphen-minus, hyphen and non-breaking hyphen. */
const withoutHyphens = (text: string) =>
  ['-', '\u2010', '\u2011'].reduce((result, hyphen) => `replace(${result}, '${hyphen}', ' ')`, text);

/** The items of a JSON array of ids, each after a line feed. */
const itemsOf = (column: string) =>
  `case ${column} when '[]' then '' else
    replace(replace(replace(lower(${column}), '["', '\n'), '","', '\n'), '"]', '') end`;

/** Finds vulnerabilities by CVE and CWE ids, which follow the title, and treats hyphens as spaces. */
export const searchByIds: Migration = {
  name: '0014-search-by-ids',
  statements: () => [
    `update vulnerabilities
      set search_title = ${withoutHyphens(`search_title || ${itemsOf('cve_ids')} || ${itemsOf('cwe_ids')}`)},
        search_description = ${withoutHyphens('search_description')}`,
  ],
};
