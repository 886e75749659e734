import type { Cover, SightedAsset } from '../domain/imports/sighting.ts';
import { assetOf, coverageOf } from './identity.ts';
import type { Target } from './report.ts';

/** Reports name the same few targets again and again. */
const KEPT = 1_000;

function remembering<T>(find: (target: Target) => T): (target: Target | undefined) => T | null {
  const kept = new Map<string, T>();
  return (target) => {
    if (target === undefined) return null;
    const key = JSON.stringify(target);
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

/** @returns what has to be covered for a finding of a target to be gone, or what a target covers; `null` for nothing */
export const coverOf: (target: Target | undefined) => Cover | null = remembering((target) => {
  const { coverKey: key, coverHost: host } = coverageOf(target);
  return key === '' ? null : { key, host: host === '' ? null : host };
});
