// Writes npm-shrinkwrap.json for the package that is being packed, and removes it afterwards (`--remove`): whoever installs
// the package from a registry gets the versions that the tests ran with, and nothing that only development needs.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

const lockFile = new URL('../package-lock.json', import.meta.url);
const shrinkwrap = new URL('../npm-shrinkwrap.json', import.meta.url);

if (process.argv.includes('--remove')) {
  rmSync(shrinkwrap, { force: true });
} else {
  const { packages, ...lock } = JSON.parse(readFileSync(lockFile, 'utf8'));
  const { devDependencies: _tools, ...root } = packages[''];
  const kept = Object.entries(packages).filter(
    ([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link,
  );
  const text = JSON.stringify({ ...lock, packages: { '': root, ...Object.fromEntries(kept) } }, null, 2);
  writeFileSync(shrinkwrap, `${text}\n`);
}
