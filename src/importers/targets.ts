import type { PortRange } from '../domain/assets/scans/diff-ports.ts';
import { textOfPorts } from '../domain/imports/port-sets.ts';
import type { Cover, SightedAsset } from '../domain/imports/sighting.ts';
import { assetOf, coverageOf } from './finding-identity.ts';
import type { Target } from './report.ts';

/** Reports name the same targets again and again. */
const KEPT = 20_000;
const LONGEST_KEPT = 256;

function remembering<T>(find: (target: Target) => T): (target: Target | undefined) => T | null {
  const kept = new Map<string, T>();
  return (target) => {
    if (target === undefined) return null;
    const key = keyOf(target);
    if (key.length > LONGEST_KEPT) return find(target);
    const known = kept.get(key);
    if (known !== undefined) return known;
    if (kept.size >= KEPT) kept.clear();
    const found = find(target);
    kept.set(key, found);
    return found;
  };
}

/** @returns the asset of a target; `null` where there is none */
export const sightedAssetOf: (target: Target | undefined) => SightedAsset | null = remembering(
  (target) => assetOf(target) ?? null,
);

const targetCover = remembering((target): Cover | null => {
  const { coverKey: key, coverHost: host } = coverageOf(target);
  if (key === '') return null;
  const port =
    'host' in target && target.port !== undefined ? `${target.protocol ?? 'tcp'}/${target.port}` : '';
  return { key, host: host === '' ? null : host, ports: port };
});

/** A report names the same ports of each of its hosts. */
const texts = new WeakMap<readonly PortRange[], string>();

function knownText(ranges: readonly PortRange[]): string {
  const known = texts.get(ranges) ?? textOfPorts(ranges);
  texts.set(ranges, known);
  return known;
}

/**
 * @param ports of a target that is a host, where it names no port
 * @returns what has to be covered for a finding of a target to be gone, or what a target covers; `null` for nothing
 */
export function coverOf(target: Target | undefined, ports?: readonly PortRange[]): Cover | null {
  const cover = targetCover(target);
  if (cover === null || ports === undefined || cover.ports !== '' || !cover.key.startsWith('host:'))
    return cover;
  const text = knownText(ports);
  // No ports at all are none that anything was found on.
  return text === '' ? null : { ...cover, ports: text };
}

function keyOf(target: Target): string {
  if ('url' in target) {
    // Nothing behind the site counts.
    const site = /^https?:\/\/[\w.:-]+(?=[/?#]|$)/.exec(target.url)?.[0];
    return `url ${site ?? target.url}`;
  }
  if ('artifact' in target) return `artifact ${target.artifact}`;
  return `host ${target.protocol ?? ''}/${target.port ?? ''} ${target.host}`;
}
