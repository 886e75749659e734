// Builds the console, unless it was built from the same sources or Vite is not installed.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { client, digestOf, dist, filesIn, root, run, tool } from './build-mode.js';

/** The digest of the sources that it was built from. */
const stamp = join(dist, '.console-sources');
const folder = join(root, 'console');
const vite = tool('vite', 'bin/vite.js');

if (vite !== undefined && existsSync(join(folder, 'src'))) {
  const description = join(client, 'openapi-types.ts');
  const generator = join(client, '../generate.js');
  const digest = digestOf([
    ...['package-lock.json', 'openapi.json', 'assets/tokens.css'].map((name) => join(root, name)),
    ...['index.html', 'package.json', 'vite.config.ts'].map((name) => join(folder, name)),
    generator,
    ...[...filesIn(join(folder, 'src')), ...filesIn(client)]
      // Generated from openapi.json.
      .filter((file) => file !== description)
      .sort((one, other) => (one < other ? -1 : 1)),
  ]);
  const isBuilt =
    existsSync(description) &&
    existsSync(join(dist, 'console/index.html')) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === digest;
  if (!isBuilt) {
    rmSync(stamp, { force: true });
    const isDone =
      run(generator) !== undefined && run(vite, 'build', '--logLevel', 'warn', folder) !== undefined;
    if (isDone) writeFileSync(stamp, digest);
  }
}
