/** A deterministic random number generator, so that all installations have the same demo data. */
export interface SeededRandom {
  /** Returns an integer from `min` to `max`, inclusive. */
  between(min: number, max: number): number;
  pick<T>(list: readonly T[]): T;
  /** Returns `true` with the given probability. */
  happens(percent: number): boolean;
}

/** Creates a generator (mulberry32). */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    between,
    pick: <T>(list: readonly T[]): T => list[between(0, list.length - 1)] as T,
    happens: (percent) => next() * 100 < percent,
  };
}
