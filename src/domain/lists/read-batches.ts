import type { Filters, Reading } from './filters.ts';
import type { Place } from './keyset.ts';
import type { List, Piece, Selection } from './define-list.ts';

/** Milliseconds that a piece may take: they hold the event loop where the database is in this process. */
const LONG = 20;
const SHORT = 10;
/** A download begins with as many rows, as nobody knows how large they are. */
const FIRST_PIECE = 50;
const LARGEST_PIECE = 400;

/**
 * Reads what a selection has, piece by piece, each behind the last. Pieces of a whole list grow and shrink with the time
 * that they take, and the next one is asked for while somebody has the last.
 * @param start a place, or how many rows are passed over
 * @param limit the most rows in all; `Infinity` for the whole list
 */
export async function* readPieces<Item, F extends Filters, O extends string>(
  list: List<Item, F, O>,
  reading: Reading,
  selection: Selection<F, O>,
  start: Place | number,
  limit: number,
): AsyncGenerator<Piece<Item>> {
  const isWhole = limit === Infinity;
  let size = isWhole ? Math.min(FIRST_PIECE, list.piece) : list.piece;
  let left = limit;
  const read = async (from: Place | number) => {
    const wanted = Math.min(left, size);
    left -= wanted;
    const began = performance.now();
    const piece = await list.read(reading, selection, from, wanted);
    const took = performance.now() - began;
    if (isWhole && took < SHORT) size = Math.min(2 * size, LARGEST_PIECE);
    else if (isWhole && took > LONG) size = Math.max(Math.floor(size / 2), 1);
    return piece;
  };
  for (let next: Promise<Piece<Item>> | undefined = left > 0 ? read(start) : undefined; next !== undefined;) {
    const piece: Piece<Item> = await next;
    next = piece.last !== undefined && piece.more && left > 0 ? read(piece.last) : undefined;
    // Whoever takes no more does not learn of it.
    next?.catch(() => undefined);
    if (piece.items.length > 0) yield piece;
  }
}
