import { Type } from 'typebox';
import { API_SCOPE } from '../../auth/scopes.ts';

/** Who may call an operation of V1. */
export const V1_ACCESS = { scopes: API_SCOPE, schemes: 'all' } as const;

/** The longest path parameter that the router takes. A V1 id of any form is answered by its handler. */
const MAX_ID = 8_192;

/** A path that ends in an id, or goes on after it. */
export const idPath = (description: string, example: string) =>
  Type.Object({ id: Type.String({ maxLength: MAX_ID, description, examples: [example] }) });

/**
 * Reads the id of a row from a path. What cannot be one becomes 0, which no row has, so it is answered like every other
 * unknown id, in the same order among the errors.
 */
export function rowId(text: string): number {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0;
  return Number.isSafeInteger(id) ? id : 0;
}
