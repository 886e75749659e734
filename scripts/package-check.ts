import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { tryGenerators } from './generated-clients.ts';
import { npm } from './npm.ts';
import { REPORT, CLIENT_USAGE } from './package-samples.ts';

/**
 * Packs the product, installs it as a user would, and sends the requests of the API guide on each supported Node.js,
 * which is installed from the registry. Then compiles the typed client and those of public generators.
 */
const NODES = ['20.19.0', '22.22.0', '24.21.0', '26.10.0'];
const PLATFORMS = ['linux-x64', 'linux-arm64'];
/** Its binaries are packages per platform with exact versions, so it cannot be bundled for all platforms. */
const BY_PLATFORM = '@node-rs/argon2';
const READY_MILLISECONDS = 60_000;

interface Lock {
  packages: Record<string, { version: string; dev?: boolean; optional?: boolean; link?: boolean }>;
}

const root = new URL('..', import.meta.url).pathname;
const platform = `${process.platform}-${process.arch}`;
const isInstalled = (command: string) => spawnSync(command, ['--version']).status === 0;

if (!PLATFORMS.includes(platform) || !isInstalled('curl')) {
  console.log(`package: skipped. It needs curl and one of ${PLATFORMS.join(', ')}; this is ${platform}.`);
} else {
  const folder = mkdtempSync(join(tmpdir(), 'assay-package-'));
  try {
    expectBundled();
    const installed = install(pack(folder), folder);
    expectLockedVersions(installed);
    for (const version of NODES) await tryOn(version, installed, folder);
    tryClient(folder);
    tryGenerators(join(folder, 'generated'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fail(message: string): never {
  throw new Error(`package: ${message}`);
}

/** A dependency that is not bundled would be installed with the newest versions of its own dependencies. */
function expectBundled(): void {
  const { dependencies, bundleDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as { dependencies: Record<string, string>; bundleDependencies: string[] };
  const missing = Object.keys(dependencies).filter(
    (name) => name !== BY_PLATFORM && !bundleDependencies.includes(name),
  );
  if (missing.length > 0) fail(`bundleDependencies lacks ${missing.join(', ')}.`);
}

/** @returns the tarball, after checking its content */
function pack(folder: string): string {
  npm('pack', '--pack-destination', folder);
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  if (name === undefined) fail('npm pack created no tarball.');
  const tarball = join(folder, name);
  const entries = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
  const topLevel = new Set(entries.map((entry) => entry.split('/')[1] ?? ''));
  const expected = [
    'LICENSE',
    'README.md',
    'assets',
    'bin',
    'dist',
    'node_modules',
    'npm-shrinkwrap.json',
    'openapi.json',
    'package.json',
  ];
  const wrong = [...topLevel, ...expected].filter(
    (entry) => !topLevel.has(entry) || !expected.includes(entry),
  );
  if (wrong.length > 0) fail(`unexpected in the tarball, or missing: ${wrong.join(', ')}.`);
  if (existsSync(join(root, 'npm-shrinkwrap.json'))) fail('npm-shrinkwrap.json was left behind.');
  return tarball;
}

/** @returns the folder of the product, installed as deploy/ describes */
function install(tarball: string, folder: string): string {
  const prefix = join(folder, 'prefix');
  mkdirSync(prefix);
  npm('install', '--global', '--prefix', prefix, tarball);
  return join(prefix, 'lib/node_modules/assay');
}

/** Checks that the installed packages have the versions of the lock file, and that none is missing. */
function expectLockedVersions(installed: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  let count = 0;
  for (const [path, { version, dev, optional, link }] of Object.entries(packages)) {
    const manifest = join(installed, path, 'package.json');
    if (!path.startsWith('node_modules/') || link === true) continue;
    if (!existsSync(manifest)) {
      if (dev !== true && optional !== true) fail(`${path} is not installed.`);
      continue;
    }
    const installedVersion = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
    if (installedVersion !== version) fail(`${path} is ${installedVersion}, not ${version}.`);
    if (dev === true) fail(`${path} is for development only.`);
    count += 1;
  }
  console.log(`package: ${count} packages installed, each in the version of the lock file`);
}

async function tryOn(version: string, installed: string, folder: string): Promise<void> {
  const prefix = join(folder, `node-${version}`);
  mkdirSync(prefix);
  npm('install', '--prefix', prefix, '--ignore-scripts', `node-${platform}@${version}`);
  const bin = join(prefix, `node_modules/node-${platform}/bin`);
  const work = join(prefix, 'work');
  mkdirSync(work);
  const env = { PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`, HOME: work, ASSAY_LOG_LEVEL: 'warn' };
  const program = join(installed, 'bin/assay.js');
  const running = execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim();
  if (running !== `v${version}`) fail(`node is ${running}, not ${version}.`);

  const server = spawn('node', [program, 'serve', '--port', '0'], {
    cwd: work,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const startedAt = performance.now();
    const origin = await originOf(server);
    const ready = Math.round(performance.now() - startedAt);
    await openConsole(origin, work);
    const statuses = requests(origin, work, env);
    const wrong = statuses.filter(({ status, expected }) => status !== expected);
    if (wrong.length > 0) fail(`on Node.js ${version}: ${JSON.stringify(wrong)}`);
    importReport(program, work, env);
    server.kill('SIGTERM');
    const [code] = (await once(server, 'exit')) as [number | null];
    if (code !== 0) fail(`on Node.js ${version}, the server exited with code ${code}.`);
    console.log(
      `package: on Node.js ${version}, ${statuses.length} requests of the API guide, ready after ${ready} ms`,
    );
  } finally {
    server.kill('SIGKILL');
  }
}

/** Checks that the console is in the package: its page requires a sign-in, and the files that it loads exist. */
async function openConsole(origin: string, work: string): Promise<void> {
  const cookies = new Map<string, string>();
  const visit = async (path: string, form?: Record<string, string>): Promise<Response> => {
    const response = await fetch(new URL(path, origin), {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    return response;
  };
  const redirect = await visit('/');
  if (redirect.status !== 303 || redirect.headers.get('location') !== '/sign-in')
    fail(`/ returns ${redirect.status} without a session`);
  const { users } = JSON.parse(readFileSync(join(work, 'data/demo.json'), 'utf8')) as {
    users: { admin: { email: string; password: string } };
  };
  const { email, password } = users.admin;
  const csrf = /name="_csrf" value="([^"]+)"/.exec(await (await visit('/sign-in')).text())?.[1] ?? '';
  const signedIn = await visit('/sign-in', { _csrf: csrf, email, password });
  if (signedIn.headers.get('location') !== '/') fail(`sign-in returns ${signedIn.status}`);
  const page = await (await visit('/')).text();
  const files = [...page.matchAll(/(?:src|href)="(\/console\/files\/[^"]+)"/g)].map(([, path = '']) => path);
  if (!files.some((path) => path.endsWith('.js'))) fail(`the page of the console has no script: ${page}`);
  for (const path of files) {
    const { status } = await visit(path);
    if (status !== 200) fail(`${path} returns ${status}`);
  }
  const missing = await visit('/console/files/unknown.js');
  if (missing.status !== 404) fail(`a missing file of the console returns ${missing.status}`);
}

/** Checks that the program of an import's process is in the package. */
function importReport(program: string, work: string, env: NodeJS.ProcessEnv): void {
  const { assessment } = JSON.parse(readFileSync(join(work, 'data/demo.json'), 'utf8')) as {
    assessment: { uid: string };
  };
  writeFileSync(join(work, 'report.jsonl'), REPORT);
  const words = ['import', 'report.jsonl', '--assessment', assessment.uid, '--json'];
  const output = execFileSync('node', [program, ...words], { cwd: work, env, encoding: 'utf8' });
  const { state, result } = JSON.parse(output) as { state: string; result: { findings_created: number } };
  if (state !== 'succeeded' || result.findings_created !== 1) fail(`importing one finding printed ${output}`);
}

/** Packs the client, installs it into an empty folder, and compiles and runs a program that uses it. */
function tryClient(folder: string): void {
  const clientFolder = join(folder, 'client');
  const work = join(clientFolder, 'work');
  mkdirSync(work, { recursive: true });
  npm('pack', '-w', 'client', '--pack-destination', clientFolder);
  const [tarball] = readdirSync(clientFolder).filter((file) => file.endsWith('.tgz'));
  if (tarball === undefined) fail('npm pack -w client made no tarball.');
  writeFileSync(join(work, 'package.json'), '{ "type": "module" }\n');
  npm('install', '--prefix', work, '--ignore-scripts', join(clientFolder, tarball));
  writeFileSync(join(work, 'use.ts'), CLIENT_USAGE);
  const compile = (tsc: string, options: string) =>
    execFileSync(
      process.execPath,
      [join(root, tsc), ...`--strict --target es2022 --lib es2023,dom ${options} use.ts`.split(' ')],
      { cwd: work, stdio: 'inherit' },
    );
  // TypeScript 7 does not have the old module resolution, which ignores `exports` in package.json.
  compile(
    'client/node_modules/typescript/bin/tsc',
    '--module esnext --moduleResolution node10 --skipLibCheck --noEmit',
  );
  compile('node_modules/typescript/bin/tsc', '--module nodenext');
  const output = execFileSync(process.execPath, ['use.js'], { cwd: work, encoding: 'utf8' });
  if (output.trim() !== '404 not-found title') fail(`the client printed ${output}`);
  console.log('package: the client can be installed, compiled and run');
}

async function originOf(server: ChildProcess): Promise<string> {
  let output = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`package: the server is not ready:\n${output}`)),
      READY_MILLISECONDS,
    );
    server.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      const origin = /^assay listening on (\S+)$/m.exec(output)?.[1];
      if (origin === undefined) return;
      clearTimeout(timer);
      resolve(origin);
    });
    server.once('exit', (code) =>
      reject(new Error(`package: the server exited with code ${code}:\n${output}`)),
    );
  });
}

/** Runs the requests of docs/api.md in a shell. The last one shows an error; all others succeed. */
function requests(
  origin: string,
  work: string,
  env: NodeJS.ProcessEnv,
): { status: string; expected: string }[] {
  const guide = readFileSync(join(root, 'docs/api.md'), 'utf8');
  const [, section = ''] = /\n## Try it\n(.*?)\n## /s.exec(guide) ?? [];
  const blocks = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block);
  const invalid = blocks.pop() ?? '';
  const valid = blocks.join('');
  const script = [
    // curl uses the last of several `-o` and `-w`: discards the body and prints the status.
    'curl() { command curl "$@" -o /dev/null -w "%{http_code}\\n"; }',
    valid.replace('http://127.0.0.1:8080', origin),
    'echo --',
    invalid,
  ].join('\n');
  const output = execFileSync('sh', ['-euc', script], { cwd: work, env, encoding: 'utf8' });
  const [first = '', second = ''] = output.split('--\n');
  const statuses = (text: string) => text.trim().split('\n');
  // Only the request that creates something returns 201.
  const results = statuses(first).map((status) => ({ status, expected: status === '201' ? '201' : '200' }));
  const created = results.filter(({ status }) => status === '201').length;
  const calls = valid.match(/^curl /gm)?.length ?? 0;
  if (calls === 0 || results.length !== calls || created !== 1)
    fail(`docs/api.md has ${calls} requests: ${output}`);
  return [...results, ...statuses(second).map((status) => ({ status, expected: '422' }))];
}
