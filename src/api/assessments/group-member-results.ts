import { type TProperties, type TSchema, Type } from 'typebox';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { DateTimeSchema, MAX_TEXT } from '../../http/schemas.ts';

export const EXAMPLE_USER_UID = 'u8x2k0vq4m7c1n5p';

export const MAX_MEMBERS_PER_REQUEST = 100;

/** Response schema of a batch: a result for each user, and a count for each status. */
export const memberResultsSchema = <Status extends TSchema, Own extends TProperties>(
  word: 'Addition' | 'Removal',
  status: Status,
  ownResult: Own,
  errors: readonly string[],
  { done, counts }: { done: object; counts: object },
) => {
  const count = Type.Integer({ minimum: 0 });
  return Type.Object(
    {
      results: Type.Array(
        Type.Object(
          {
            userUid: Type.String({ maxLength: 64, examples: [EXAMPLE_USER_UID] }),
            status,
            ...ownResult,
            errorCode: Type.Optional(
              Type.String({
                enum: [...errors],
                maxLength: 32,
                description:
                  'Present only when the status is `error`. `user_not_in_org` is returned to staff only; other callers get `user_not_found`.',
              }),
            ),
            errorDetail: Type.Optional(
              Type.String({ maxLength: MAX_TEXT, description: 'Present only when the status is `error`.' }),
            ),
          },
          { title: `${word} result` },
        ),
        {
          maxItems: MAX_MEMBERS_PER_REQUEST,
          description: 'In the order of the request.',
          examples: [
            [
              { userUid: EXAMPLE_USER_UID, ...done },
              {
                userUid: 'nobody',
                status: 'error',
                errorCode: 'user_not_found',
                errorDetail: 'No user has this uid.',
              },
            ],
          ],
        },
      ),
      metadata: Type.Object(
        {
          processedAt: DateTimeSchema,
          counts: Type.Object(
            { added: count, removed: count, noop: count, error: count },
            { title: `${word} counts`, examples: [counts] },
          ),
        },
        { title: `${word} metadata` },
      ),
    },
    { title: `${word} results` },
  );
};

/** Counts the results by status. @param now milliseconds since 1970 */
export function toMemberResults<R extends { status: 'added' | 'removed' | 'noop' | 'error' }>(
  results: R[],
  now: number,
) {
  const counts = { added: 0, removed: 0, noop: 0, error: 0 };
  for (const { status } of results) counts[status] += 1;
  return { results, metadata: { processedAt: formatTimestamp(now), counts } };
}
