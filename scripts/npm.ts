import { execFileSync } from 'node:child_process';

const root = new URL('..', import.meta.url).pathname;

/** Runs npm in the repository. @returns its output */
export function npm(...args: string[]): string {
  return execFileSync('npm', [...args, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    // Under npm, the environment contains the settings of the outer run.
    env: Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(cache|registry))/i.test(name)),
    ),
  });
}
