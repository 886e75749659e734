// The layers of src, and the imports that each may have. `npx tsx scripts/layers.ts` writes them as rules of oxlint to
// .oxlint-layers.json, which .oxlintrc.json extends, and as a picture to CONTRIBUTING.md. test/architecture.test.ts
// fails if either is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The layers, folders and files of src, with the others that each may import. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  paths: [],
  lib: ['paths'],
  auth: ['lib'],
  db: ['lib'],
  domain: ['auth', 'db', 'lib'],
  config: ['auth'],
  files: ['config', 'db', 'domain'],
  context: ['auth', 'config', 'db', 'domain', 'files', 'lib', 'paths'],
  importers: ['config', 'db', 'domain', 'files', 'lib'],
  demo: ['auth', 'db', 'domain', 'paths'],
  jobs: ['auth', 'config', 'context', 'db', 'domain', 'files', 'importers', 'lib', 'paths'],
  http: ['auth', 'config', 'context', 'db', 'domain', 'lib'],
  api: ['auth', 'context', 'domain', 'files', 'http', 'importers', 'lib'],
  'page-kit': ['context', 'domain', 'http', 'paths'],
  sso: ['auth', 'config', 'context', 'domain', 'http', 'lib'],
  oauth: ['auth', 'context', 'domain', 'http', 'page-kit'],
  account: ['auth', 'context', 'domain', 'http', 'oauth', 'page-kit', 'paths', 'sso'],
  app: ['account', 'api', 'auth', 'config', 'context', 'domain', 'http', 'jobs', 'oauth', 'page-kit'],
  // prettier-ignore
  cli: ['app', 'auth', 'config', 'context', 'db', 'demo', 'domain', 'files', 'http', 'importers', 'paths', 'sso'],
  main: ['cli'],
};
/** The layers that are files. The others are folders. */
const FILES = ['paths', 'context', 'app', 'main'];

/** The folders of src/domain, with the others that each may import. */
const DOMAIN_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  lists: ['shared'],
  audit: ['shared', 'lists'],
  organizations: ['shared', 'lists', 'audit'],
  tokens: ['shared', 'lists', 'audit'],
  assessments: ['shared', 'lists', 'audit', 'organizations'],
  assets: ['shared', 'lists', 'audit', 'assessments'],
  vulnerabilities: ['shared', 'lists', 'audit', 'organizations', 'assessments'],
  imports: [
    'shared',
    'lists',
    'audit',
    'organizations',
    'tokens',
    'assessments',
    'assets',
    'vulnerabilities',
  ],
  users: ['shared', 'lists', 'audit', 'organizations', 'tokens', 'assessments'],
  'sign-in': ['shared', 'audit', 'organizations', 'tokens', 'assessments', 'users'],
};

/** Layers that must not depend on HTTP, and layers without SQL. */
const WITHOUT_HTTP = ['lib', 'auth', 'db', 'domain', 'files', 'config', 'context', 'importers', 'demo'];
const WITHOUT_SQL = ['api', 'page-kit', 'sso', 'oauth', 'account'];

const list = (names: readonly string[]) => names.join(', ').replace(/, ([^,]*)$/, ' and $1');

interface Pattern {
  regex?: string;
  group?: string[];
  message: string;
}

function forbidLayers(layer: string): Pattern {
  const imports = LAYERS[layer] ?? [];
  const forbidden = Object.keys(LAYERS).filter((other) => other !== layer && !imports.includes(other));
  const folders = forbidden.filter((other) => !FILES.includes(other));
  const files = forbidden.filter((other) => FILES.includes(other));
  return {
    regex: `^[./]+/(src/)?((${folders.join('|')})/|(${files.join('|')})[.]tsx?$)`,
    message: `src/${layer} imports ${imports.length === 0 ? 'no other layer' : `${list(imports)} only`} (scripts/layers.ts).`,
  };
}

function forbidFolders(folder: string): Pattern {
  const allowed = DOMAIN_FOLDERS[folder] ?? [];
  const folders = Object.keys(DOMAIN_FOLDERS).filter((other) => other !== folder && !allowed.includes(other));
  return {
    regex: `^([.][.]/)+(domain/)?(${folders.join('|')})/`,
    message: `src/domain/${folder} imports ${allowed.length === 0 ? 'no other folder' : `${list(allowed)} only`} of src/domain (scripts/layers.ts).`,
  };
}

interface Path {
  name: string;
  message: string;
  allowImportNames?: string[];
}

const DRIVERS: Path[] = ['pg', '@photostructure/sqlite'].map((name) => ({
  name,
  message: 'Only src/db imports database drivers.',
}));

/** Rules of the domain run inside transactions, which wait for nothing but their database. */
const WAITING = {
  group: [
    'node:timers',
    'node:timers/*',
    'node:fs',
    'node:fs/*',
    'node:http',
    'node:https',
    'node:dns',
    'node:dns/*',
  ],
  message: 'A rule may run in a transaction, so it waits for nothing but the database.',
};
const PROMISIFIED = {
  name: 'node:zlib',
  allowImportNames: ['gzipSync', 'gunzipSync'],
  message: WAITING.message,
};

function override(path: string, patterns: Pattern[], paths = DRIVERS): object {
  const rules = { 'no-restricted-imports': ['error', { paths, patterns }] };
  return {
    files: [FILES.includes(path.replace('src/', '')) ? `${path}.ts` : `${path}/**/*.{ts,tsx}`],
    rules,
  };
}

function patternsOf(layer: string): Pattern[] {
  return [
    forbidLayers(layer),
    ...(WITHOUT_HTTP.includes(layer)
      ? [{ group: ['fastify', '@fastify/*'], message: `src/${layer} must not depend on HTTP.` }]
      : []),
    ...(layer === 'domain'
      ? [WAITING, { regex: '/yield-to-event-loop[.]ts$', message: WAITING.message }]
      : []),
    ...(WITHOUT_SQL.includes(layer)
      ? [{ group: ['kysely'], message: `src/${layer} has no SQL: call src/domain.` }]
      : []),
  ];
}

const pathsOf = (layer: string): Path[] =>
  layer === 'db' ? [] : layer === 'domain' ? [...DRIVERS, PROMISIFIED] : DRIVERS;

/** @returns the content of .oxlint-layers.json */
export function layerRules(): string {
  const overrides = [
    ...Object.keys(LAYERS).map((layer) => override(`src/${layer}`, patternsOf(layer), pathsOf(layer))),
    ...Object.keys(DOMAIN_FOLDERS).map((folder) =>
      override(`src/domain/${folder}`, [...patternsOf('domain'), forbidFolders(folder)], pathsOf('domain')),
    ),
  ];
  return `{\n  "overrides": [\n${overrides.map((entry) => `    ${JSON.stringify(entry)}`).join(',\n')}\n  ]\n}\n`;
}

/** @returns the edges of a table that do not follow from others */
function picturedEdges(table: Readonly<Record<string, readonly string[]>>): string[] {
  const reaches = (from: string, to: string): boolean =>
    (table[from] ?? []).some((next) => next === to || reaches(next, to));
  return Object.entries(table)
    .toReversed()
    .flatMap(([layer, imports]) => {
      const direct = imports.filter((to) => !imports.some((other) => other !== to && reaches(other, to)));
      return direct.length === 0 ? [] : [`${layer} --> ${direct.join(' & ')}`];
    });
}

/** @returns the layers and the folders of the domain as a Mermaid diagram */
export function layersPicture(): string {
  return [
    'flowchart TD',
    ...picturedEdges(LAYERS).map((edge) => `  ${edge}`),
    '',
    '  subgraph domain',
    ...picturedEdges(DOMAIN_FOLDERS).map((edge) => `    ${edge}`),
    '  end',
  ].join('\n');
}

/** The tables, and which layers are files. */
export const TABLES = { layers: LAYERS, files: FILES, domainFolders: DOMAIN_FOLDERS };

export const PICTURE = /(?<=```mermaid\n).*?(?=\n```)/s;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const write = (name: string, change: (content: string) => string) => {
    const file = new URL(`../${name}`, import.meta.url);
    writeFileSync(file, change(readFileSync(file, 'utf8')));
  };
  write('.oxlint-layers.json', layerRules);
  write('CONTRIBUTING.md', (content) => content.replace(PICTURE, layersPicture()));
}
