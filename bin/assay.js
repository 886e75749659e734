#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);

if (process.env.npm_command === 'exec') {
  // Between npx and this runs a shell, which a signal ends without passing it on.
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, 250).unref();
}

if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('assay: it is not built yet. Run "npm ci" or "npm run build" in its folder first.\n');
  process.exitCode = 1;
}
