import { readdir } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { useOwnServer } from '../harness/server.ts';

const lists: string[] = [];
const server = await useOwnServer();
beforeAll(async () => {
  const app = await buildApp(server.context, ({ config, method }) => {
    if (config?.list !== undefined && method !== 'HEAD') lists.push(config.operation);
  });
  await app.close();
});

const kebabCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

it('Every list operation has a test in this folder', async () => {
  const walked = await readdir(import.meta.dirname);
  const missing = [...new Set(lists)]
    .map((name) => `${kebabCase(name)}.test.ts`)
    .filter((file) => !walked.includes(file));
  expect(lists.length).toBeGreaterThan(0);
  expect(missing).toEqual([]);
});
