import { type Static, Type } from 'typebox';
import { ALL_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../context.ts';
import {
  createPersonalToken,
  type PersonalTokenInput,
  validatePersonalToken,
} from '../../domain/tokens/personal-tokens.ts';
import { personalTokenList, type UserToken } from '../../domain/tokens/token-list.ts';
import { MAX_USER_TOKENS, revokeUserToken, TOKEN_VERSION } from '../../domain/tokens/tokens.ts';
import type { PartialInput } from '../../domain/shared/partial-input.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { SMALL_BODY_LIMIT } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import {
  DateTimeSchema,
  describedAs,
  MAX_RESULTS,
  nameSchema,
  nullable,
  textSchema,
  nullableTextSchema,
} from '../../http/schemas.ts';
import { ALLOW_UNKNOWN_ID } from '../../http/validation/derived-schemas.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { V1_ACCESS } from '../v1-params.ts';

const collection = '/tokens';
const MAX_ITEMS = 1_000;

const TokenCreatorSchema = Type.Object(
  {
    kind: Type.Enum(['token', 'application', 'external'], {
      type: 'string',
      examples: ['token'],
      description: '`token`, `application`, or `external` for a token of an external issuer.',
    }),
    id: Type.String({ maxLength: 512, examples: ['0f6e8a2c-5f0e-4d6f-9a53-1f2b7c6d8e90'] }),
    name: nullableTextSchema('deployment'),
  },
  {
    title: 'Token creator',
    description:
      'The token or the application with which this token was created, and with which it ends; null for one created on the page of tokens or on the command line.',
  },
);

const PersonalTokenSchema = Type.Object(
  {
    id: Type.String({ maxLength: 64, examples: ['0f6e8a2c-5f0e-4d6f-9a53-1f2b7c6d8e90'] }),
    name: nullableTextSchema('deployment'),
    prefix: Type.String({
      maxLength: 64,
      examples: ['assay_4Kd81m'],
      description: 'The first characters of the token.',
    }),
    scopes: Type.Array(Type.String({ enum: [...ALL_SCOPES], maxLength: 64, examples: ['api'] }), {
      maxItems: ALL_SCOPES.length,
    }),
    allowed_addresses: Type.Array(textSchema('192.0.2.0/24'), {
      maxItems: MAX_RESULTS,
      description: 'The IP addresses and CIDR blocks that can use the token; empty for any.',
    }),
    created_at: DateTimeSchema,
    expires_at: nullable(DateTimeSchema),
    last_used_at: nullable(DateTimeSchema),
    last_used_from: nullableTextSchema('192.0.2.7'),
    revoked_at: nullable(DateTimeSchema),
    made_by: nullable(TokenCreatorSchema),
  },
  { title: 'Token' },
);

const formatNullableTimestamp = (time: number | null) => (time === null ? null : formatTimestamp(time));

function toTokenBody(token: UserToken) {
  return {
    id: token.id,
    name: token.name,
    prefix: token.prefix,
    scopes: [...token.scopes],
    allowed_addresses: [...token.allowedAddresses],
    created_at: formatTimestamp(token.createdAt),
    expires_at: formatNullableTimestamp(token.expiresAt),
    last_used_at: formatNullableTimestamp(token.lastUsedAt),
    last_used_from: token.lastUsedFrom,
    revoked_at: formatNullableTimestamp(token.revokedAt),
    made_by: token.createdBy,
  };
}

const listTokensOperation = (context: Context) =>
  listOperation(context, {
    id: 'listTokens',
    number: 57,
    summary: 'List your tokens',
    description:
      'Lists the personal access tokens of the caller, newest first, including revoked and expired ones.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: personalTokenList,
    defaultSort: { sort: 'createdAt', descending: true },
    schema: PersonalTokenSchema,
    toRow: toTokenBody,
  });

const NewTokenSchema = Type.Object(
  {
    name: nameSchema('deployment'),
    scopes: Type.Optional(
      Type.Array(describedAs(Type.String({ maxLength: 64, examples: ['api'] }), { enum: ALL_SCOPES }), {
        maxItems: MAX_ITEMS,
        description:
          'Defaults to the scopes of the credential used, also when empty; `api_read` is then left out, as `api` covers it.',
      }),
    ),
    allowed_addresses: Type.Optional(
      Type.Array(Type.String({ maxLength: 64, examples: ['192.0.2.0/24'] }), {
        maxItems: MAX_ITEMS,
        description:
          'IP addresses and CIDR blocks that can use the token; empty for any. Defaults to those of the credential used.',
      }),
    ),
    expires_at: Type.Optional(
      Type.String({
        format: 'date-time',
        maxLength: 64,
        examples: ['2126-11-21T10:30:00Z'],
        description: 'Defaults to the expiry of the credential used.',
      }),
    ),
  },
  { title: 'New token' },
);

type NewTokenBody = Static<typeof NewTokenSchema>;

const CreatedTokenSchema = Type.Object(
  {
    ...PersonalTokenSchema.properties,
    token: Type.String({
      maxLength: 128,
      examples: ['assay_4Kd81mXq0ZtPw7aB2cN5vJ8hG3fL6sD9yR1eQ4uT0'],
      description: 'The token. It is shown only once.',
    }),
  },
  { title: 'New token with its secret' },
);

const createTokenOperation = ({ clock, keys }: Context) =>
  operation({
    id: 'createToken',
    number: 58,
    summary: 'Create a token',
    description: `Creates a personal access token for the caller. It cannot exceed the credential used: no further scopes (\`api\` covers \`api_read\`), no wider addresses, no later expiry. A user can have at most ${MAX_USER_TOKENS} valid tokens.`,
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    body: NewTokenSchema,
    bodyLimit: SMALL_BODY_LIMIT,
    inputs: { allowedAddresses: 'allowed_addresses', expiresAt: 'expires_at' },
    responses: { 201: { description: 'The created token.', schema: CreatedTokenSchema } },
    versioned: true,
    hasSecret: true,
    idempotency: { omitted: ['token'] },
    validate: (body) => validatePersonalToken(toTokenInput(body), clock()),
    handler({ caller, writeOnce, body }) {
      const by = { actor: caller, now: clock() };
      return writeOnce(async (tx) => {
        const { token, ...created } = await createPersonalToken(tx, by, keys, toTokenInput(body));
        return versionedResult(TOKEN_VERSION, { ...toTokenBody({ ...created }), token });
      });
    },
  });

function toTokenInput(body: NewTokenBody): PersonalTokenInput;
function toTokenInput(body: PartialInput<NewTokenBody>): PartialInput<PersonalTokenInput>;
function toTokenInput({
  name,
  scopes = [],
  allowed_addresses: allowedAddresses,
  expires_at: expiresAt,
}: PartialInput<NewTokenBody>): PartialInput<PersonalTokenInput> {
  return { name, scopes: scopes.length === 0 ? undefined : scopes, allowedAddresses, expiresAt };
}

/** A value that is not a token id matches no token, so the response is a 404. */
const TokenParamsSchema = Type.Object({
  id: Type.String({
    maxLength: 64,
    pattern: '^[-0-9A-Za-z]+$',
    [ALLOW_UNKNOWN_ID]: '-',
    description: 'The id of one of your tokens.',
    examples: ['0f6e8a2c-5f0e-4d6f-9a53-1f2b7c6d8e90'],
  }),
});

const revokeTokenOperation = ({ clock }: Context) =>
  operation({
    id: 'revokeToken',
    number: 59,
    summary: 'Revoke a token',
    description:
      'Revokes a token of the caller immediately and permanently. It may be the token used for the request.',
    method: 'DELETE',
    path: `${collection}/:id`,
    access: V1_ACCESS,
    params: TokenParamsSchema,
    responses: { 204: { description: 'The token was revoked.' } },
    versioned: true,
    async handler({ caller, ifMatch, params: { id }, write }) {
      const by = { actor: caller, now: clock() };
      await write((tx) => revokeUserToken(tx, by, caller.userId ?? -1, id, ifMatch));
    },
  });

export default operationsOf('v1', [listTokensOperation, createTokenOperation, revokeTokenOperation]);
