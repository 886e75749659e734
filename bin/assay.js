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
  await import(main.href).catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    refuse('its dependencies are not installed. Run "npm ci" in its folder first.');
  });
} else {
  refuse('it is not built yet. Run "npm ci --include=dev" in its folder first, which builds it.');
}

function refuse(message) {
  process.stderr.write(`assay: ${message}\n`);
  process.exitCode = 1;
}
