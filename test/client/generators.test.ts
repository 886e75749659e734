import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { generate } from 'openapi-typescript-codegen';
import { afterAll, describe, expect, it } from 'vitest';
import { useSharedServer } from '../harness/server.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

const server = await useSharedServer();
const folder = mkdtempSync(join(tmpdir(), 'assay-generated-'));
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.close();
});

/** @returns the errors of the compiler */
async function compile(files: readonly string[]): Promise<string> {
  const types = join(ROOT, 'node_modules/@types');
  const options =
    '--noEmit --strict --target es2022 --lib es2022,dom --module esnext --moduleResolution bundler';
  const args = [tsc, ...options.split(' '), '--typeRoots', types, '--types', 'node', ...files];
  return promisify(execFile)(process.execPath, args, { cwd: folder }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
}

describe('Client generated from the description by a third-party generator', () => {
  it('compiles, with types named for their objects', async () => {
    const { body: description } = await server.request('GET', '/openapi.json');
    const output = join(folder, 'client');
    await generate({ input: description, output });
    expect(await compile([join(output, 'index.ts')])).toBe('');

    const models = readdirSync(join(output, 'models')).map((file) => file.replace(/\.ts$/, ''));
    expect(models).toEqual(
      expect.arrayContaining(['Vulnerability', 'VulnerabilityTag', 'AssessmentTag', 'User']),
    );
    // No type is named for an operation or for its position in another type.
    expect(
      models.filter((name) => /Response|Body\b|_|\d$|^(list|get|create|update)[A-Z]/.test(name)),
    ).toEqual([]);
    const services = readFileSync(join(output, 'services/V1Service.ts'), 'utf8');
    expect(services).toMatch(/getVulnerability\([^)]*\): CancelablePromise<Vulnerability>/);

    const use = join(folder, 'use.ts');
    writeFileSync(
      use,
      `import { OpenAPI, type Vulnerability, V1Service } from './client/index';
OpenAPI.BASE = 'http://127.0.0.1';
export const vulnerability: Promise<Vulnerability> = V1Service.getVulnerability(1);
export const wrong = V1Service.updateVulnerability(1, { status_id: 'fixed' });`,
    );
    const errors = (await compile([use])).split('\n').filter((line) => line.includes('error TS'));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain("Type 'string' is not assignable to type 'number'");
  });
});
