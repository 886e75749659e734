import type { PortRange } from '../domain/assets/scans/diff-ports.ts';
import { formatPorts } from '../domain/imports/port-sets.ts';
import type { CoverageKey, AssetLocation } from '../domain/imports/sighting.ts';
import { resolveAsset, targetCoverageOf } from './finding-identity.ts';
import type { ScanTarget } from './report.ts';

/** Entries. Reports repeat few targets. */
const CACHE_SIZE = 20_000;
const MAX_CACHED_LENGTH = 256;

function memoizeByTarget<T>(find: (target: ScanTarget) => T): (target: ScanTarget | undefined) => T | null {
  const kept = new Map<string, T>();
  return (target) => {
    if (target === undefined) return null;
    const key = cacheKeyOf(target);
    if (key.length > MAX_CACHED_LENGTH) return find(target);
    const known = kept.get(key);
    if (known !== undefined) return known;
    if (kept.size >= CACHE_SIZE) kept.clear();
    const found = find(target);
    kept.set(key, found);
    return found;
  };
}

/** @returns the asset of a target; `null` if there is none */
export const assetOfTarget: (target: ScanTarget | undefined) => AssetLocation | null = memoizeByTarget(
  (target) => resolveAsset(target) ?? null,
);

const cachedCoverageKey = memoizeByTarget((target): CoverageKey | null => {
  const { coverKey: key, coverHost: host } = targetCoverageOf(target);
  if (key === '') return null;
  const port =
    'host' in target && target.port !== undefined ? `${target.protocol ?? 'tcp'}/${target.port}` : '';
  return { key, host: host === '' ? null : host, ports: port };
});

/** A report repeats the same port list for each of its hosts. */
const portTexts = new WeakMap<readonly PortRange[], string>();

function cachedPorts(ranges: readonly PortRange[]): string {
  const known = portTexts.get(ranges) ?? formatPorts(ranges);
  portTexts.set(ranges, known);
  return known;
}

/**
 * @param ports limits a host target that names no port
 * @returns what a report must cover for a missing finding of this target to be gone; `null` if nothing covers it
 */
export function coverageKeyOf(
  target: ScanTarget | undefined,
  ports?: readonly PortRange[],
): CoverageKey | null {
  const cover = cachedCoverageKey(target);
  if (cover === null || ports === undefined || cover.ports !== '' || !cover.key.startsWith('host:'))
    return cover;
  const text = cachedPorts(ports);
  // A finding without any port cannot be covered.
  return text === '' ? null : { ...cover, ports: text };
}

function cacheKeyOf(target: ScanTarget): string {
  if ('url' in target) {
    // Only the origin matters.
    const site = /^https?:\/\/[\w.:-]+(?=[/?#]|$)/.exec(target.url)?.[0];
    return `url ${site ?? target.url}`;
  }
  if ('artifact' in target) return `artifact ${target.artifact}`;
  return `host ${target.protocol ?? ''}/${target.port ?? ''} ${target.host}`;
}
