import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from './npm.ts';

/** A public client generator, and a program that uses the client generated from the API description. */
interface Generator {
  /** Packages with versions: the generator, then the dependencies of the generator and of its clients. */
  packages: readonly string[];
  /** The command in `node_modules/.bin`, with its arguments. */
  command: readonly string[];
  /** Lists with a filter, changes one member, uploads if the client can, and has a use that must not compile. */
  use: string;
}

const TYPESCRIPT = 'typescript@5.9.3';
const ORVAL_CONFIG = {
  assay: {
    input: { target: './openapi.json' },
    output: { target: './client/assay.ts', client: 'fetch', mode: 'single' },
  },
};

const GENERATORS: readonly Generator[] = [
  {
    packages: ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', TYPESCRIPT],
    command: ['openapi-typescript', 'openapi.json', '--output', 'client/paths.ts'],
    use: `import createClient from 'openapi-fetch';
import type { components, paths } from './client/paths.js';
const client = createClient<paths, 'application/json'>({ baseUrl: 'https://assay.example' });
export async function use(): Promise<components['schemas']['Vulnerability'] | undefined> {
  const { data } = await client.GET('/v1/vulnerabilities', { params: { query: { 'filter[severity][]': ['High'] } } });
  await client.PATCH('/v1/vulnerabilities/{id}', { params: { path: { id: 1 } }, body: { status_id: 5 } });
  await client.PATCH('/api/asset/v2/assets/{assetUid}', { params: { path: { assetUid: 'a' } }, body: { name: 'printer' } });
  // @ts-expect-error No vulnerability has this severity.
  await client.GET('/v1/vulnerabilities', { params: { query: { 'filter[severity][]': ['Urgent'] } } });
  return data?.[0];
}
`,
  },
  {
    packages: ['@hey-api/openapi-ts@0.99.0', TYPESCRIPT],
    command: [
      'openapi-ts',
      '--input',
      'openapi.json',
      '--output',
      'client',
      '--client',
      '@hey-api/client-fetch',
    ],
    use: `import { listVulnerabilities, startImport, updateAsset, updateVulnerability, uploadAttachments, type Vulnerability } from './client/index.js';
export async function use(): Promise<Vulnerability | undefined> {
  const { data } = await listVulnerabilities({ query: { 'filter[severity][]': ['High'] } });
  await updateVulnerability({ path: { id: 1 }, body: { status_id: 5 } });
  await updateAsset({ path: { assetUid: 'a' }, body: { name: 'printer' } });
  await uploadAttachments({ path: { id: 1 }, body: { file: [new Blob(['text'])] } });
  await startImport({ body: { format: 'nmap', file: new Blob(['<nmaprun/>']) } });
  // @ts-expect-error The id of a status is a number.
  await updateVulnerability({ path: { id: 1 }, body: { status_id: 'Fixed' } });
  return Array.isArray(data) ? data[0] : undefined;
}
`,
  },
  {
    packages: ['orval@8.38.0', TYPESCRIPT],
    command: ['orval', '--config', 'orval.config.json'],
    use: `import { listVulnerabilities, startImport, updateAsset, updateVulnerability, uploadAttachments } from './client/assay.js';
export async function use(): Promise<number> {
  const { status } = await listVulnerabilities({ 'filter[severity][]': ['High'] });
  await updateVulnerability(1, { status_id: 5 });
  await updateAsset('a', { name: 'printer' });
  await uploadAttachments(1, { file: [new Blob(['text'])] });
  await startImport({ format: 'nmap', file: new Blob(['<nmaprun/>']) });
  // @ts-expect-error The id of a status is a number.
  await updateVulnerability(1, { status_id: 'Fixed' });
  return status;
}
`,
  },
  {
    packages: ['swagger-typescript-api@13.13.0', TYPESCRIPT],
    command: [
      'swagger-typescript-api',
      'generate',
      '--path',
      'openapi.json',
      '--output',
      'client',
      '--name',
      'assay.ts',
    ],
    use: `import { Api, type Vulnerability } from './client/assay.js';
const { v1, api } = new Api({ baseUrl: 'https://assay.example' });
export async function use(): Promise<Vulnerability | undefined> {
  const { data } = await v1.listVulnerabilities({ 'filter[severity][]': ['High'] });
  await v1.updateVulnerability(1, { status_id: 5 });
  await api.updateAsset('a', { name: 'printer' });
  await v1.uploadAttachments(1, { file: [new File(['text'], 'answer.txt')] });
  await v1.startImport({ format: 'nmap', file: new File(['<nmaprun/>'], 'scan.xml') });
  // @ts-expect-error The id of a status is a number.
  await v1.updateVulnerability(1, { status_id: 'Fixed' });
  return data[0];
}
`,
  },
  {
    packages: ['openapi-zod-client@1.18.3', '@zodios/core@10.9.6', 'axios@1.13.5', 'zod@3.25.76', TYPESCRIPT],
    command: ['openapi-zod-client', 'openapi.json', '--output', 'client/assay.ts', '--with-alias'],
    use: `import { createApiClient } from './client/assay.js';
const client = createApiClient('https://assay.example');
export async function use(): Promise<string | undefined> {
  const [vulnerability] = await client.listVulnerabilities({ queries: { 'filter[severity][]': ['High'] } });
  await client.updateVulnerability({ status_id: 5 }, { params: { id: 1 } });
  await client.updateAsset({ name: 'printer' }, { params: { assetUid: 'a' } });
  await client.uploadAttachments({ file: [new File(['text'], 'answer.txt')] }, { params: { id: 1 } });
  // @ts-expect-error The id of a status is a number.
  await client.updateVulnerability({ status_id: 'Fixed' }, { params: { id: 1 } });
  return vulnerability?.title;
}
`,
  },
];

/**
 * Generates a client from `openapi.json` with each of five public generators, and compiles it with a program that uses
 * it. The generators are installed into the folder; none needs an install script.
 */
export function tryGenerators(folder: string): void {
  const root = new URL('..', import.meta.url).pathname;
  for (const { packages, command, use } of GENERATORS) {
    const [generator = ''] = packages;
    const work = join(folder, generator.replace(/\W+/g, '-'));
    mkdirSync(join(work, 'client'), { recursive: true });
    writeFileSync(join(work, 'package.json'), '{ "type": "module" }\n');
    npm('install', '--prefix', work, '--ignore-scripts', '--save-exact', ...packages);
    copyFileSync(join(root, 'openapi.json'), join(work, 'openapi.json'));
    writeFileSync(join(work, 'orval.config.json'), JSON.stringify(ORVAL_CONFIG));
    writeFileSync(join(work, 'use.ts'), use);
    const run = (name: string, ...args: string[]) => {
      const program = join(work, 'node_modules/.bin', name);
      const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: work, encoding: 'utf8' });
      if (status !== 0)
        throw new Error(`package: the client of ${generator} fails at ${name}:\n${stdout}${stderr}`, {
          cause: error,
        });
    };
    const [name = '', ...args] = command;
    run(name, ...args);
    const options =
      '--noEmit --strict --skipLibCheck --target es2022 --lib es2023,dom,dom.iterable --module esnext --moduleResolution bundler';
    run('tsc', ...options.split(' '), 'use.ts');
    console.log(`package: ${generator} makes a client that compiles`);
  }
}
