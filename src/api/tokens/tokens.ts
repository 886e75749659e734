import { Type } from 'typebox';
import { ALL_SCOPES } from '../../auth/scopes.ts';
import type { Context } from '../../runtime/context.ts';
import { issueOwnToken, type PersonalToken, personalTokenList } from '../../domain/tokens/personal-tokens.ts';
import { MAX_OWN_TOKENS, revokeOwnToken, TOKEN_VERSION } from '../../domain/tokens/tokens.ts';
import { invalid } from '../../domain/shared/errors.ts';
import { isoTime, momentOf } from '../../domain/shared/time.ts';
import { SMALL_BODY } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { DateTime, MAX_RESULTS, nameText, orNull, storedText, unknownText } from '../../http/schemas.ts';
import { UNKNOWN_ID } from '../../http/validation/validation.ts';
import { versioned } from '../../http/etags.ts';
import { V1_ACCESS } from '../v1-params.ts';

const collection = '/tokens';
const MAX_ITEMS = 1_000;

const TokenBody = Type.Object(
  {
    id: Type.String({ maxLength: 64, examples: ['0f6e8a2c-5f0e-4d6f-9a53-1f2b7c6d8e90'] }),
    name: unknownText('deployment'),
    prefix: Type.String({ maxLength: 64, examples: ['assay_4Kd81m'], description: 'How the token begins.' }),
    scopes: Type.Array(Type.String({ maxLength: 64, examples: ['api'] }), { maxItems: ALL_SCOPES.length }),
    allowed_addresses: Type.Array(storedText('192.0.2.0/24'), {
      maxItems: MAX_RESULTS,
      description: 'From where alone it is good; empty for everywhere.',
    }),
    created_at: DateTime,
    expires_at: orNull(DateTime),
    last_used_at: orNull(DateTime),
    last_used_from: unknownText('192.0.2.7'),
    revoked_at: orNull(DateTime),
  },
  { title: 'Token' },
);

const timeOrNull = (time: number | null) => (time === null ? null : isoTime(time));

function tokenBody(token: PersonalToken) {
  return {
    id: token.id,
    name: token.name,
    prefix: token.prefix,
    scopes: [...token.scopes],
    allowed_addresses: [...token.allowedAddresses],
    created_at: isoTime(token.createdAt),
    expires_at: timeOrNull(token.expiresAt),
    last_used_at: timeOrNull(token.lastUsedAt),
    last_used_from: token.lastUsedFrom,
    revoked_at: timeOrNull(token.revokedAt),
  };
}

const declareListTokens = (context: Context) =>
  listOperation(context, {
    id: 'listTokens',
    number: 57,
    summary: 'List your tokens',
    description: 'Your own personal access tokens, newest first, the revoked and the expired ones too.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: personalTokenList,
    usualSort: { order: 'createdAt', descending: true },
    schema: TokenBody,
    row: tokenBody,
  });

const NewTokenBody = Type.Object(
  {
    name: nameText('deployment'),
    scopes: Type.Optional(
      Type.Array(Type.String({ maxLength: 64, examples: ['api'] }), {
        maxItems: MAX_ITEMS,
        description: 'Absent or empty: those of the credential that asks.',
      }),
    ),
    allowed_addresses: Type.Optional(
      Type.Array(Type.String({ maxLength: 64, examples: ['192.0.2.0/24'] }), {
        maxItems: MAX_ITEMS,
        description:
          'IP addresses and CIDR blocks from which alone it is good; empty for everywhere. Absent: as the credential that asks.',
      }),
    ),
    expires_at: Type.Optional(
      Type.String({
        format: 'date-time',
        maxLength: 64,
        examples: ['2126-11-21T10:30:00Z'],
        description: 'Absent: when the credential that asks does.',
      }),
    ),
  },
  { title: 'New token' },
);

const NewToken = Type.Object(
  {
    ...TokenBody.properties,
    token: Type.String({
      maxLength: 128,
      examples: ['assay_4Kd81mXq0ZtPw7aB2cN5vJ8hG3fL6sD9yR1eQ4uT0'],
      description: 'The token itself, which is shown this once.',
    }),
  },
  { title: 'New token with its secret' },
);

const declareCreateToken = ({ clock, keys }: Context) =>
  operation({
    id: 'createToken',
    number: 58,
    summary: 'Create a token',
    description: `Makes a personal access token of your own, which is good for no more than the credential that asks for it: no other scopes, no wider addresses, no later expiry. At most ${MAX_OWN_TOKENS} that are good.`,
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    body: NewTokenBody,
    bodyLimit: SMALL_BODY,
    inputs: { allowedAddresses: 'allowed_addresses', expiresAt: 'expires_at' },
    answers: { 201: { description: 'The token.', schema: NewToken } },
    versioned: true,
    repeats: { withheld: ['token'] },
    handler({ caller, change, body: { name, scopes = [], allowed_addresses, expires_at } }) {
      const act = { actor: caller, now: clock() };
      const wish = {
        name,
        scopes: scopes.length === 0 ? undefined : scopes,
        allowedAddresses: allowed_addresses,
        expiresAt: expires_at === undefined ? undefined : readMoment(expires_at),
      };
      return change(async (tx) => {
        const { token, ...made } = await issueOwnToken(tx, act, keys, wish);
        return versioned(TOKEN_VERSION, { ...tokenBody({ ...made }), token });
      });
    },
  });

function readMoment(text: string): number {
  const moment = momentOf(text);
  if (moment !== undefined) return moment;
  throw invalid({
    property: 'expiresAt',
    message: 'must be a date and time such as 2026-11-21T10:30:00Z',
    value: text,
  });
}

/** What cannot be the id of a token is one that nobody has. */
const TokenPath = Type.Object({
  id: Type.String({
    maxLength: 64,
    pattern: '^[-0-9A-Za-z]+$',
    [UNKNOWN_ID]: '-',
    description: 'The id of one of your tokens.',
    examples: ['0f6e8a2c-5f0e-4d6f-9a53-1f2b7c6d8e90'],
  }),
});

const declareRevokeToken = ({ clock, db }: Context) =>
  operation({
    id: 'revokeToken',
    number: 59,
    summary: 'Revoke a token',
    description: 'Ends one of your own tokens at once and for good, whether or not it is the one that asks.',
    method: 'DELETE',
    path: `${collection}/:id`,
    access: V1_ACCESS,
    params: TokenPath,
    answers: { 204: { description: 'The token is revoked.' } },
    versioned: true,
    async handler({ caller, expected, params: { id } }) {
      const act = { actor: caller, now: clock() };
      await db.write((tx) => revokeOwnToken(tx, act, caller.userId ?? -1, id, expected));
    },
  });

export const TOKEN_OPERATIONS = [declareListTokens, declareCreateToken, declareRevokeToken];
