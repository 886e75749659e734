import type { Migration, SchemaDialect } from './migration.ts';

/**
 * Full case folding of texts in lower case and NFC, which earlier versions compared: a character, and the text that
 * replaces it. Only these characters have one.
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

/** Those of common texts, so that most need few replacements. */
const COMMON = FOLDINGS.filter(([character]) => 'µßς'.includes(character));

/**
 * The other characters, and some that stay, as a few ranges: both engines compare each character of a text with all.
 */
const RARE = 'ŉſ\u0345ϐ-ϵևᏸ-ᏽᲀ-ᲈẚẛᾀ-ῷꭰ-ꮿﬀ-ﬗ';

const matches = (column: string, characters: string, { engine }: SchemaDialect) =>
  engine === 'sqlite' ? `${column} glob '*[${characters}]*'` : `${column} ~ '[${characters}]'`;

const mayHaveFoldings = (column: string, dialect: SchemaDialect) => matches(column, `µßς${RARE}`, dialect);

const replaceAll = (column: string, foldings: typeof FOLDINGS) =>
  foldings.reduce(
    (text, [character, replacement]) => `replace(${text}, '${character}', '${replacement}')`,
    column,
  );

const folded = (column: string, dialect: SchemaDialect) =>
  `case when ${matches(column, RARE, dialect)} then ${replaceAll(column, FOLDINGS)}
    else ${replaceAll(column, COMMON)} end`;

const SEARCHED_COLUMNS = {
  users: ['search_name'],
  assets: ['search_name', 'search_location'],
  vulnerabilities: ['search_title', 'search_description'],
  assessments: ['search_name'],
  assessment_groups: ['search_name'],
};

/** Their names are unique within an organization. */
const TAG_TABLES = ['vulnerability_tags', 'assessment_tags', 'asset_tags'];

/** An expression for eight random hexadecimal digits. */
const randomText = ({ engine }: SchemaDialect) =>
  engine === 'sqlite' ? 'lower(hex(randomblob(4)))' : "lpad(to_hex((random() * 4294967295)::bigint), 8, '0')";

/**
 * Compares texts after Unicode's full case folding instead of in lower case (ADR 90). Where tags of an organization now
 * have the same name, one keeps it: the one whose name is folded already, else the oldest. The others get their id and
 * random characters appended, because a tag may have a name with the id alone. Tags are sorted and not compared with
 * each other, because an organization may have many.
 */
export const caseFolding: Migration = {
  name: '0006-case-folding',
  statements: (dialect) => [
    ...TAG_TABLES.flatMap((table) => [
      `update ${table} set version = version + 1, name = name || suffix, normalized_name = folded_name || suffix
        from (
          select tag, folded_name, ' (' || tag || '-' || ${randomText(dialect)} || ')' as suffix,
            row_number() over (partition by organization, folded_name order by old_name <> folded_name, tag) as place
          from (
            select id as tag, organization_id as organization, normalized_name as old_name,
              ${folded('normalized_name', dialect)} as folded_name
            from ${table}) as folded) as ranked
        where tag = id and place > 1`,
      `update ${table} set normalized_name = ${folded('normalized_name', dialect)} where ${mayHaveFoldings('normalized_name', dialect)}`,
    ]),
    ...Object.entries(SEARCHED_COLUMNS).map(
      ([table, columns]) =>
        `update ${table} set ${columns.map((column) => `${column} = ${folded(column, dialect)}`).join(', ')}
          where ${columns.map((column) => mayHaveFoldings(column, dialect)).join(' or ')}`,
    ),
  ],
};
