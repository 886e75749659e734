import { Type } from 'typebox';
import { API_SCOPE } from '../auth/scopes.ts';
import { UNKNOWN_ID } from '../http/validation/validation.ts';

/** Who may call an operation of V1. */
export const V1_ACCESS = { scopes: API_SCOPE, schemes: 'all' } as const;

/** A path that ends in the id of a row, or goes on after it. What cannot be such an id is one that no row has: 404. */
export const idPath = (description: string, example: number) => pathOf({ id: [description, example] });

/** A path through a vulnerability to something that is its own. */
export const innerPath = <N extends string>(name: N, description: string, example: number) =>
  pathOf({ id: ['The id of a vulnerability.', 1], [name]: [description, example] } as Record<
    'id' | N,
    readonly [string, number]
  >);

/** A path with ids of rows in it, by their names, each with what it is and an example. */
export const pathOf = <N extends string>(ids: Readonly<Record<N, readonly [string, number]>>) =>
  Type.Object(
    Object.fromEntries(
      Object.entries<readonly [string, number]>(ids).map(([name, [description, example]]) => [
        name,
        rowId(description, example),
      ]),
    ) as Record<N, ReturnType<typeof rowId>>,
  );

const rowId = (description: string, example: number) =>
  Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    [UNKNOWN_ID]: 0,
    description,
    examples: [example],
  });
