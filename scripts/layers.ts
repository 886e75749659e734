// The layers of src, and what each may import. `npx tsx scripts/layers.ts` writes them as rules of oxlint to
// .oxlint-layers.json, which .oxlintrc.json extends; test/architecture.test.ts fails if that file is out of date.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folders of the domain that all others may import. */
const BASE = ['shared', 'lists', 'audit'];

/** Layers, with the other layers that they import. Every layer may import `runtime` but for its `context.ts`. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  auth: [],
  db: [],
  domain: ['auth', 'db'],
  config: ['auth'],
  files: ['config', 'db', 'domain'],
  runtime: ['auth', 'config', 'db', 'domain', 'files'],
  importers: ['config', 'db', 'domain', 'files'],
  demo: ['auth', 'db', 'domain'],
  jobs: ['auth', 'config', 'db', 'domain', 'files', 'importers', 'runtime/context'],
  http: ['auth', 'config', 'db', 'domain', 'runtime/context'],
  api: ['auth', 'config', 'domain', 'files', 'http', 'importers', 'runtime/context'],
  'page-kit': ['domain', 'http', 'runtime/context'],
  sso: ['auth', 'config', 'domain', 'http', 'runtime/context'],
  oauth: ['auth', 'domain', 'http', 'page-kit', 'runtime/context'],
  account: ['auth', 'domain', 'http', 'oauth', 'page-kit', 'sso', 'runtime/context'],
  // prettier-ignore
  cli: ['app', 'auth', 'config', 'db', 'demo', 'domain', 'files', 'http', 'importers', 'sso', 'runtime/context'],
};

/** Folders of the domain, with the others that they may import besides `BASE`. */
const DOMAIN_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  organizations: [],
  tokens: ['organizations'],
  assessments: ['organizations'],
  assets: ['assessments', 'organizations'],
  vulnerabilities: ['assessments', 'organizations'],
  imports: ['assessments', 'assets', 'organizations', 'tokens', 'vulnerabilities'],
  users: ['assessments', 'assets', 'organizations', 'tokens', 'vulnerabilities'],
  'sign-in': ['assessments', 'assets', 'imports', 'organizations', 'tokens', 'users', 'vulnerabilities'],
};

/** Layers that must not depend on HTTP, and layers without SQL. */
const WITHOUT_HTTP = ['auth', 'db', 'domain', 'files', 'config', 'runtime', 'importers', 'demo'];
const WITHOUT_SQL = ['api', 'page-kit', 'sso', 'oauth', 'account'];

const FOLDERS = Object.keys(LAYERS).filter((layer) => layer !== 'runtime');
/** Files that are layers of their own. Every layer may import the other files of `runtime`. */
const FILES = ['app', 'main', 'runtime/context'];

const list = (names: readonly string[]) => names.join(', ').replace(/, ([^,]*)$/, ' and $1');

interface Pattern {
  regex?: string;
  group?: string[];
  message: string;
}

function forbidImports(layer: string): Pattern {
  const imports = LAYERS[layer] ?? [];
  const allowed = new Set([layer, ...imports]);
  const folders = FOLDERS.filter((name) => !allowed.has(name));
  const files = FILES.filter(
    (name) => !allowed.has(name) && !(layer === 'runtime' && name.startsWith('runtime/')),
  );
  const names = files.map((name) => name.split('/').at(-1));
  return {
    regex: `/(${folders.join('|')})/|^[./]+/(runtime/)?(${names.join('|')})[.]ts$`,
    message:
      imports.length === 0
        ? `Of the other layers, src/${layer} imports only the tools in src/runtime (scripts/layers.ts).`
        : `src/${layer} imports ${list(imports)} and the tools in src/runtime only (scripts/layers.ts).`,
  };
}

function forbidFolders(folder: string): Pattern[] {
  const allowed = DOMAIN_FOLDERS[folder] ?? [];
  const folders = Object.keys(DOMAIN_FOLDERS).filter((name) => name !== folder && !allowed.includes(name));
  if (folders.length === 0) return [];
  const allowedNames = list([...allowed, ...BASE]);
  return [
    {
      regex: `^([.][.]/)+(domain/)?(${folders.join('|')})/`,
      message: `src/domain/${folder} imports ${allowedNames} of the folders of src/domain only (scripts/layers.ts).`,
    },
  ];
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

function override(folder: string, patterns: Pattern[], paths = DRIVERS): object {
  const rules = { 'no-restricted-imports': ['error', { paths, patterns }] };
  return { files: [`${folder}/**/*.{ts,tsx}`], rules };
}

function patternsOf(layer: string): Pattern[] {
  return [
    forbidImports(layer),
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
    override('src', []),
    ...Object.keys(LAYERS).map((layer) => override(`src/${layer}`, patternsOf(layer), pathsOf(layer))),
    ...[...BASE, ...Object.keys(DOMAIN_FOLDERS)].map((folder) =>
      override(
        `src/domain/${folder}`,
        [...patternsOf('domain'), ...forbidFolders(folder)],
        pathsOf('domain'),
      ),
    ),
  ];
  return `{\n  "overrides": [\n${overrides.map((one) => `    ${JSON.stringify(one)}`).join(',\n')}\n  ]\n}\n`;
}

/** @returns the folders of src and of src/domain that the tables name, and what each layer may import */
export const layerFolders = () => ({
  imports: LAYERS,
  layers: Object.keys(LAYERS),
  domainFolders: [...BASE, ...Object.keys(DOMAIN_FOLDERS)],
});

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(new URL('../.oxlint-layers.json', import.meta.url), layerRules());
