#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('assay: it is not built yet. Run "npm ci" or "npm run build" in its folder first.\n');
  process.exitCode = 1;
}
