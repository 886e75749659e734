#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);

if (process.env.npm_command === 'exec') {
  // npx starts a shell in between, which ends on a signal without forwarding it.
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, 250).unref();
}

if (existsSync(main)) {
  await import(main.href).catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    fail('The dependencies are not installed. Run "npm ci" in the folder of the package.');
  });
} else {
  fail('Not built. Run "npm ci --include=dev" in the folder of the package to build it.');
}

function fail(message) {
  process.stderr.write(`assay: ${message}\n`);
  process.exitCode = 1;
}
