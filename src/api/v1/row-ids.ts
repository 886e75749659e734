import { Type } from 'typebox';
import { API_SCOPE } from '../../auth/scopes.ts';
import { UNKNOWN_ID } from '../../http/validation.ts';

/** Who may call an operation of V1. */
export const V1_ACCESS = { scopes: API_SCOPE, schemes: 'all' } as const;

/** A path that ends in the id of a row, or goes on after it. What cannot be such an id is one that no row has: 404. */
export const idPath = (description: string, example: number) =>
  Type.Object({
    id: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      [UNKNOWN_ID]: 0,
      description,
      examples: [example],
    }),
  });
