// Builds what `npm start` and `npx assay` run. An installation without its development tools has no compiler, and is
// then one that was built before it was put there.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const root = new URL('..', import.meta.url);

function compiler() {
  try {
    const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
    return join(dirname(manifest), 'bin/tsc');
  } catch {
    return undefined;
  }
}

const tsc = compiler();
if (tsc !== undefined) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} else if (!existsSync(new URL('dist/main.js', root))) {
  process.stderr.write(
    'assay: it is not built, and the compiler is not installed. Run "npm ci --include=dev".\n',
  );
}
