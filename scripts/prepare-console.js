// Builds the console, unless it is built from just these sources or what builds it is not installed.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { client, digestOf, dist, filesIn, root, run, tool } from './building.js';

/** What it was made of: a digest. */
const stamp = join(dist, '.console-sources');
const folder = join(root, 'console');
const vite = tool('vite', 'bin/vite.js');

if (vite !== undefined && existsSync(join(folder, 'src'))) {
  const wanted = digestOf([
    join(root, 'package-lock.json'),
    ...['index.html', 'package.json', 'vite.config.ts'].map((name) => join(folder, name)),
    // Of the description it takes the types alone.
    ...[...filesIn(join(folder, 'src')), ...filesIn(client)]
      .filter((file) => file !== join(client, 'description.ts'))
      .sort((one, other) => (one < other ? -1 : 1)),
  ]);
  const isBuilt =
    existsSync(join(dist, 'console/index.html')) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === wanted;
  if (!isBuilt) {
    rmSync(stamp, { force: true });
    if (run(vite, 'build', '--logLevel', 'warn', folder) !== undefined) writeFileSync(stamp, wanted);
  }
}
