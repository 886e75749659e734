/** Limit of assets per request. */
export const MAX_ASSETS_PER_REQUEST = 1_000;

/** Splits items into batches of at most `size`. */
export function chunk<Item>(items: readonly Item[], size = MAX_ASSETS_PER_REQUEST): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
