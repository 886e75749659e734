import { readdirSync } from 'node:fs';
import type { AreaOperations } from '../http/operation.ts';

/**
 * The operations of all areas: the default exports of the files in the subjects' folders. The bundle has no such files,
 * so `scripts/bundle.js` replaces this module by one that imports them statically.
 */
export const OPERATIONS: readonly AreaOperations[] = await Promise.all(
  readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((name) => /[\\/]/.test(name) && /\.[jt]s$/.test(name))
    .map((name) => import(new URL(name, import.meta.url).href) as Promise<{ default?: AreaOperations }>),
).then((modules) => modules.flatMap((module) => module.default ?? []));
