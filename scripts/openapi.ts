import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApp } from '../src/app.ts';
import { loadConfig } from '../src/config/config.ts';
import { openContext } from '../src/context.ts';

/** Writes `openapi.json`, the API description of a server with the default configuration. `--check` only compares. */
const file = new URL('../openapi.json', import.meta.url);
const dataDirectory = mkdtempSync(join(tmpdir(), 'assay-openapi-'));
try {
  const context = await openContext({ ...loadConfig({}, {}), dataDirectory, logLevel: 'silent' });
  const app = await buildApp(context);
  const { body: text } = await app.inject('/openapi.json');
  await app.close();
  await context.db.close();
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
  } else if (text !== readFileSync(file, 'utf8')) {
    console.error('openapi.json is out of date. Run `npm run openapi` and commit the result.');
    process.exitCode = 1;
  }
} finally {
  rmSync(dataDirectory, { recursive: true, force: true });
}
