import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { DIST } from '../paths.ts';

const maps = new Map<string, SourceMap | undefined>();

/**
 * Maps the locations of a stack trace from built modules to sources. Reads source maps on demand, as Node.js
 * (`--enable-source-maps`) would read those of every module at each start.
 * @param built the folder of the built modules
 */
export function mapStackTrace(stack: string, built = DIST): string {
  return stack.replace(
    /(file:\/\/(?:\/[A-Z]:)?[^\s():]+\.js):(\d+):(\d+)/g,
    (location, module: string, line, column) => {
      if (!module.startsWith(built.href)) return location;
      const entry = sourceMapOf(module)?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry === undefined || !('originalSource' in entry)) return location;
      const { originalSource, originalLine, originalColumn } = entry;
      return `${originalSource.replace(/^(?:[.][.][/])+/, '')}:${originalLine + 1}:${originalColumn + 1}`;
    },
  );
}

function sourceMapOf(module: string): SourceMap | undefined {
  if (!maps.has(module)) {
    const file = new URL(`${module}.map`);
    maps.set(
      module,
      existsSync(file)
        ? new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload)
        : undefined,
    );
  }
  return maps.get(module);
}
