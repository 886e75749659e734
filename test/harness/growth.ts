/** Into so many pieces a text is cut: linear work takes as long for all of them as for the whole, quadratic work a 16th. */
const PIECES = 16;
/** Work is linear below the first, which is as far from 1 as from `PIECES`, and not linear from the second on. */
const [LIMIT, CLEAR] = [4, 8];
/** Between them, a text up to this many times as long decides, whose pieces leave the processor's caches too. */
const LONGEST = 8;
/** Rounds before work counts as linear, and before it does not. Other processes slow some of them down, but never all. */
const [MIN_ROUNDS, MAX_ROUNDS] = [3, 12];
/** Microseconds. Nothing that is quadratic or worse handles a text as long as those of the tests in this time. */
const TRIFLE = 3_000;

/** @returns the processor time of this process in microseconds: others that run meanwhile do not count */
function processorTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/**
 * Whether the time of work grows no faster than the length of its text. Compares times with each other and not with a
 * limit, so that neither the speed nor the load of the machine matters.
 * @param textOf makes a text of about as many characters
 * @param length how many the longer text has; a quadratic pattern reads the default in tens of milliseconds
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

/** @returns how many times as long the work takes for a text as for its pieces, at most until that is below `LIMIT` */
function growth(work: (text: string) => unknown, textOf: (length: number) => string, length: number): number {
  const whole = textOf(length);
  let piece: string | undefined;
  let wholeTime = Number.POSITIVE_INFINITY;
  let pieceTime = Number.POSITIVE_INFINITY;
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    wholeTime = Math.min(
      wholeTime,
      processorTime(() => work(whole)),
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
