import type { Migration, SchemaDialect } from './migration.ts';

/**
 * Full case folding of texts in lower case and NFC, which earlier versions compared: a character, and the text that replaces
 * it. Only these characters have one.
 */
const FOLDINGS: readonly (readonly [character: string, folded: string])[] = [
  ...(
    'µμ ßss ŉʼn ſs \u0345ι ςσ ϐβ ϑθ ϕφ ϖπ ϰκ ϱρ ϵε ևեւ ᲀв ᲁд ᲂо ᲃс ᲄт ᲅт ᲆъ ᲇѣ ᲈꙋ ẚaʾ ẛṡ ᾀἀι ᾁἁι ᾂἂι ᾃἃι ᾄἄι ᾅἅι ᾆἆι ' +
    'ᾇἇι ᾐἠι ᾑἡι ᾒἢι ᾓἣι ᾔἤι ᾕἥι ᾖἦι ᾗἧι ᾠὠι ᾡὡι ᾢὢι ᾣὣι ᾤὤι ᾥὥι ᾦὦι ᾧὧι ᾲὰι ᾳαι ᾴάι ᾷᾶι ῂὴι ῃηι ῄήι ῇῆι ῲὼι ῳωι ῴώι ῷῶι ' +
    'ﬀff ﬁfi ﬂfl ﬃffi ﬄffl ﬅst ﬆst ﬓմն ﬔմե ﬕմի ﬖվն ﬗմխ'
  )
    .split(' ')
    .map((pair) => [pair.slice(0, 1), pair.slice(1)] as const),
  // Cherokee folds to capitals.
  ...Array.from(
    { length: 86 },
    (_, index) =>
      [
        String.fromCodePoint(index < 80 ? 0xab_70 + index : 0x13_f8 + index - 80),
        String.fromCodePoint(0x13_a0 + index),
      ] as const,
  ),
];

const CHARACTERS = FOLDINGS.map(([character]) => character).join('');

const folded = (column: string) =>
  FOLDINGS.reduce(
    (text, [character, replacement]) => `replace(${text}, '${character}', '${replacement}')`,
    column,
  );

const hasFoldings = (column: string, { engine }: SchemaDialect) =>
  engine === 'sqlite' ? `${column} glob '*[${CHARACTERS}]*'` : `${column} ~ '[${CHARACTERS}]'`;

const SEARCHED_COLUMNS = {
  users: ['search_name'],
  assets: ['search_name', 'search_location'],
  vulnerabilities: ['search_title', 'search_description'],
  assessments: ['search_name'],
  assessment_groups: ['search_name'],
};

/** Their names are unique within an organization. */
const TAG_TABLES = ['vulnerability_tags', 'assessment_tags', 'asset_tags'];

/**
 * Compares texts after Unicode's full case folding instead of in lower case (ADR 90). Where tags of an organization now
 * have the same name, one keeps it: the one whose name is folded already, else the oldest. The others get their id
 * appended.
 */
export const caseFolding: Migration = {
  name: '0006-case-folding',
  statements: (dialect) => [
    ...TAG_TABLES.flatMap((table) => [
      `update ${table} set version = version + 1, name = name || ' (' || id || ')', normalized_name = ${folded('normalized_name')} || ' (' || id || ')'
        where ${hasFoldings('normalized_name', dialect)} and exists (
          select 1 from ${table} as other where other.organization_id = ${table}.organization_id and other.id <> ${table}.id
            and ${folded('other.normalized_name')} = ${folded(`${table}.normalized_name`)}
            and (other.id < ${table}.id or not ${hasFoldings('other.normalized_name', dialect)}))`,
      `update ${table} set normalized_name = ${folded('normalized_name')} where ${hasFoldings('normalized_name', dialect)}`,
    ]),
    ...Object.entries(SEARCHED_COLUMNS).flatMap(([table, columns]) =>
      columns.map(
        (column) => `update ${table} set ${column} = ${folded(column)} where ${hasFoldings(column, dialect)}`,
      ),
    ),
  ],
};
