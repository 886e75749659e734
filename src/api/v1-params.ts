import { Type } from 'typebox';
import { API_SCOPE } from '../auth/scopes.ts';
import { ALLOW_UNKNOWN_ID } from '../http/validation/derived-schemas.ts';

export const V1_ACCESS = { scopes: API_SCOPE, schemes: 'all' } as const;

/** Path parameters with an id. A value that is not an id matches no row, so the response is a 404. */
export const idParams = (description: string, example: number) =>
  paramsSchema({ id: [description, example] });

/** Path parameters of something that belongs to a vulnerability. */
export const nestedIdParams = <N extends string>(name: N, description: string, example: number) =>
  paramsSchema({ id: ['The id of a vulnerability.', 1], [name]: [description, example] } as Record<
    'id' | N,
    readonly [string, number]
  >);

/** Path parameters with several ids: for each name its description and an example. */
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
    [ALLOW_UNKNOWN_ID]: 0,
    description,
    examples: [example],
  });
