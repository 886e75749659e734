import { Type } from 'typebox';
import { API_SCOPE } from '../auth/scopes.ts';
import { LENIENT_ID } from '../http/validation/validation.ts';

/** Who may call an operation of V1. */
export const V1_ACCESS = { scopes: API_SCOPE, schemes: 'all' } as const;

/** A path that ends in the id of a row, or goes on after it. What cannot be such an id is one that no row has: 404. */
export const idParams = (description: string, example: number) =>
  paramsSchema({ id: [description, example] });

/** A path through a vulnerability to something that is its own. */
export const nestedIdParams = <N extends string>(name: N, description: string, example: number) =>
  paramsSchema({ id: ['The id of a vulnerability.', 1], [name]: [description, example] } as Record<
    'id' | N,
    readonly [string, number]
  >);

/** A path with ids of rows in it, by their names, each with what it is and an example. */
export const paramsSchema = <N extends string>(ids: Readonly<Record<N, readonly [string, number]>>) =>
  Type.Object(
    Object.fromEntries(
      Object.entries<readonly [string, number]>(ids).map(([name, [description, example]]) => [
        name,
        idSchema(description, example),
      ]),
    ) as Record<N, ReturnType<typeof idSchema>>,
  );

const idSchema = (description: string, example: number) =>
  Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    [LENIENT_ID]: 0,
    description,
    examples: [example],
  });
