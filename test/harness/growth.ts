/** The number of pieces of a text. Linear work takes as long for all pieces as for the text, quadratic work a 16th. */
const PIECES = 16;
/**
 * Ratios below the first count as linear, from the second on as not linear. The first is halfway between 1 and
 * `PIECES`.
 */
const [LIMIT, CLEAR] = [4, 8];
/** For ratios between them, a text up to this many times as long decides, whose pieces do not fit the caches either. */
const LONGEST = 8;
/** Rounds until work counts as linear, and until it does not. Other processes slow down some rounds, but never all. */
const [MIN_ROUNDS, MAX_ROUNDS] = [3, 12];
/** Microseconds. Quadratic work cannot process a text of the tests in this time. */
const TRIFLE = 3_000;

/** @returns the processor time of this process in microseconds, which excludes other processes */
function processorTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/**
 * Whether the time of some work grows at most linearly with the length of its text. Compares times with each other, not
 * with a limit, so that the speed and the load of the machine do not matter.
 * @param textOf creates a text of about this many characters
 * @param length characters of the longer text; a quadratic pattern reads the default in tens of milliseconds
 */
export function isLinear(
  work: (text: string) => unknown,
  textOf: (length: number) => string,
  length = 16_000,
): boolean {
  for (let factor = 1; factor <= LONGEST; factor *= 2) {
    const ratio = growth(work, textOf, factor * length);
    if (ratio < LIMIT) return true;
    if (ratio >= CLEAR) return false;
  }
  return false;
}

/** @returns the time for a text divided by the time for its pieces; stops early once it is below `LIMIT` */
function growth(work: (text: string) => unknown, textOf: (length: number) => string, length: number): number {
  const fullText = textOf(length);
  let piece: string | undefined;
  let wholeTime = Number.POSITIVE_INFINITY;
  let pieceTime = Number.POSITIVE_INFINITY;
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    wholeTime = Math.min(
      wholeTime,
      processorTime(() => work(fullText)),
    );
    if (wholeTime < TRIFLE) return 1;
    const part = (piece ??= textOf(length / PIECES));
    pieceTime = Math.min(
      pieceTime,
      processorTime(() => {
        for (let count = 0; count < PIECES; count += 1) work(part);
      }),
    );
    if (round >= MIN_ROUNDS && wholeTime < LIMIT * pieceTime) break;
  }
  return wholeTime / pieceTime;
}
