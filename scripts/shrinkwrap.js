// Writes npm-shrinkwrap.json for packing, and removes it afterwards (`--remove`). Installing the package from a
// registry then gets the tested versions, without development dependencies.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

const lockFile = new URL('../package-lock.json', import.meta.url);
const shrinkwrap = new URL('../npm-shrinkwrap.json', import.meta.url);

if (process.argv.includes('--remove')) {
  rmSync(shrinkwrap, { force: true });
} else {
  const { packages, ...lock } = JSON.parse(readFileSync(lockFile, 'utf8'));
  const { devDependencies: _tools, ...root } = packages[''];
  const production = Object.entries(packages).filter(
    ([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link,
  );
  const text = JSON.stringify(
    { ...lock, packages: { '': root, ...Object.fromEntries(production) } },
    null,
    2,
  );
  writeFileSync(shrinkwrap, `${text}\n`);
}
