import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idParams } from '../../src/api/v1-params.ts';
import { describeFieldError, invalidInput } from '../../src/domain/shared/errors.ts';
import { validateName } from '../../src/domain/shared/names.ts';
import { formatRejectedValue } from '../../src/http/validation/rejected-value.ts';
import type { Problem } from '../../src/http/problems.ts';
import { nameSchema, nullable } from '../../src/http/schemas.ts';
import { compileValidator, createValidatorCompiler } from '../../src/http/validation/validation.ts';
import { expectProblem } from '../harness/expect-problem.ts';
import { type TestServer, useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';

const schema = Type.Object({
  name: Type.String({ minLength: 2, maxLength: 5, pattern: '^[a-z]' }),
  size: Type.Optional(Type.Integer({ minimum: 1 })),
  items: Type.Optional(
    Type.Array(
      Type.Object({
        uid: Type.String(),
        lines: Type.Optional(Type.Array(Type.String({ maxLength: 3 }), { maxItems: 2 })),
        parts: Type.Optional(Type.Array(Type.String(), { maxItems: 2, 'x-batch': true })),
      }),
      { maxItems: 3 },
    ),
  ),
});
type Answer = { value?: unknown; error?: Problem };
const validatorOf = (of: object, httpPart: string) =>
  compileValidator({ schema: of as never, httpPart, method: 'POST', url: '/' }) as (input: unknown) => Answer;
const validate = validatorOf(schema, 'body');
const faultsOf = (body: unknown) =>
  validate(body).error?.details.fieldErrors?.map(({ property }) => property);

describe('A schema', () => {
  it('has no keyword that validation would not read', () => {
    const odd = { type: 'object', properties: { a: { type: 'string', contentEncoding: 'base64' } } };
    expect(() => validatorOf(odd, 'body')).toThrow('contentEncoding');
    expect(() => validatorOf(odd, 'querystring')).toThrow('contentEncoding');
  });

  it('is read in its choices and its further properties as well', () => {
    const choices = validatorOf(
      Type.Object({
        id: Type.Union([Type.Integer({ minimum: 1 }), Type.String({ maxLength: 2 })]),
        notes: Type.Optional(Type.Unsafe({ type: 'object', additionalProperties: { type: 'string' } })),
      }),
      'body',
    );
    const kindOf = (body: unknown) => choices(body).error?.type;
    expect([{ id: 1 }, { id: 'ab', notes: { any: 'x' } }].map(kindOf)).toEqual([undefined, undefined]);
    expect([{ id: true }, { id: 1, notes: { any: 1 } }].map(kindOf)).toEqual(
      Array(2).fill('invalid-request'),
    );
    expect(
      [{ id: 0 }, { id: 'abc' }, { id: 'a\0' }, { id: 1, notes: { any: '\ud800' } }].map(kindOf),
    ).toEqual(Array(4).fill('validation-failed'));
  });
});

describe('A body in which null is as good as absent', () => {
  const Part = Type.Object({ uid: Type.String(), note: Type.Optional(Type.String()) });
  const lenient = createValidatorCompiler({ nullIsAbsent: true })({
    schema: Type.Object({
      name: Type.String(),
      size: Type.Optional(Type.Integer()),
      due: Type.Optional(Type.Unsafe({ type: ['string', 'null'], maxLength: 10 })),
      parts: Type.Optional(Type.Array(Type.Union([Type.Integer(), Part]))),
      filter: Type.Optional(Type.Object({ size: Type.Optional(Type.Integer()) })),
    }),
    httpPart: 'body',
    method: 'POST',
    url: '/',
  }) as (input: unknown) => Answer;

  it('loses what is null, but where that means something', () => {
    const body = {
      name: 'a',
      size: null,
      due: null,
      parts: [1, { uid: 'x', note: null }],
      filter: { size: null },
      more: null,
    };
    const kept = { name: 'a', due: null, parts: [1, { uid: 'x' }], filter: {}, more: null };
    expect(lenient(body)).toEqual({ value: kept });
  });

  it('lacks what is required and null, and has no null for an item', () => {
    expect(lenient({ name: null }).error?.details.fieldErrors).toEqual([
      { property: 'name', message: 'is required' },
    ]);
    expect(lenient({ name: 'a', parts: [null] }).error?.type).toBe('invalid-request');
    expect(lenient(null).error?.type).toBe('invalid-request');
  });
});

describe('A body', () => {
  it.each([
    { name: 'abc' },
    { name: 'abc', size: 3, unknown: { kept: [1] } },
    { name: 'ab', items: [{ uid: '' }, { uid: 'x', lines: ['a', 'b'], parts: [] }] },
  ])('that is good passes as it is: %j', (body) => {
    const answer = validate(body);
    expect(answer.error).toBeUndefined();
    expect(answer.value).toBe(body);
  });

  it.each([
    ['is no object', undefined, undefined],
    ['is null', null, undefined],
    ['is an array', [], undefined],
    ['has a number for a text, which is not converted', { name: 5 }, ['name']],
    ['has a text for a number, which is not converted', { name: 'abc', size: '3' }, ['size']],
    ['has null for what is optional', { name: 'abc', size: null }, ['size']],
    ['has an object for an array', { name: 'abc', items: {} }, ['items']],
    [
      'has wrong types deep inside',
      { name: 'abc', items: [{ uid: 1 }, 'x', { uid: 'y', lines: [true, 'a', null] }] },
      ['items.0.uid', 'items.1', 'items.2.lines.0', 'items.2.lines.2'],
    ],
    [
      'has wrong types beside wrong values and too many items',
      { name: '', size: [], items: Array.from({ length: 9 }, () => ({})) },
      ['size'],
    ],
  ])('that %s is malformed', (_name, body, faults) => {
    expect(validate(body).error?.type).toBe('invalid-request');
    expect(faultsOf(body)).toEqual(faults);
  });

  it.each([
    ['lacks what is required', { size: 1 }, ['name']],
    ['has a number of the wrong kind', { name: 'abc', size: 1.5 }, ['size']],
    ['has several faults in one value', { name: '1234567' }, ['name', 'name']],
    [
      'has faults in several items',
      { name: 'abc', items: [{}, { uid: 'x' }, { uid: 'x', lines: ['long one'] }] },
      ['items.0.uid', 'items.2.lines.0'],
    ],
    [
      'has more items in a list that is no batch than it may',
      { name: 'abc', items: [{ uid: 'x', lines: ['a', 'b', 'c'] }] },
      ['items.0.lines'],
    ],
    ['has a NUL character', { name: 'a\0' }, ['name']],
    [
      'has half a surrogate pair deep inside',
      { name: 'abc', items: [{ uid: '\ud800', lines: ['\udfff'] }] },
      ['items.0.uid', 'items.0.lines.0'],
    ],
  ])('that %s is invalid', (_name, body, faults) => {
    expect(validate(body).error?.type).toBe('validation-failed');
    expect(faultsOf(body)?.sort()).toEqual([...faults].sort());
  });

  it('takes whole surrogate pairs, and counts them as one character', () => {
    expect(validate({ name: 'a🔒🔒🔒🔒' }).error).toBeUndefined();
  });

  it.each([
    ['a batch', { items: Array.from({ length: 4 }, () => ({})) }, 'items', 3, 4],
    ['a batch within one', { items: [{ uid: 'x' }, { parts: ['a', 'b', '\0'] }] }, 'items.1.parts', 2, 3],
  ])('with too many items in %s is told so before its values', (_name, body, source, max, size) => {
    const { error } = validate({ name: '', ...body });
    expect(error?.type).toBe('batch-too-large');
    expect(error?.details).toEqual({ batch: { max, size }, source });
  });

  it.each([
    ['wrong types', Array<number>(1_000_000).fill(1), 'invalid-request'],
    [
      'wrong types within one item',
      [{ uid: 'x', lines: Array<number>(1_000_000).fill(1) }],
      'invalid-request',
    ],
    ['wrong values within one item', [{ uid: 'x', lines: Array(1_000_000).fill('\0') }], 'validation-failed'],
  ])('with a million %s is answered with the first of them', (_name, items, kind) => {
    const { error } = validate({ name: 'abc', items });
    expect(error?.type).toBe(kind);
    expect(error?.details.fieldErrors?.length).toBe(1);
  });
});

describe('A name', () => {
  const named = validatorOf(Type.Object({ name: nameSchema('x') }), 'body');
  const wide = '\u{1f512}';

  it.each([
    [
      'x',
      'xx',
      ' x ',
      'a b',
      'x'.repeat(255),
      `\u3000${'x'.repeat(255)}\n`,
      wide.repeat(255),
      `a\n${wide}\ufeff`,
    ],
    [
      '',
      ' ',
      '\t\u00a0\ufeff',
      'x'.repeat(256),
      wide.repeat(256),
      ` ${'x '.repeat(128)}x`,
      ' '.repeat(2_048),
    ],
  ])('is held to the rule of names before anything is looked up: %j and others', (...names) => {
    for (const name of names) {
      const fault = validateName('name', name);
      expect(named({ name }).error?.details.fieldErrors).toEqual(fault && [describeFieldError(fault)]);
    }
  });

  it.each([
    ['longer than any text', 'x'.repeat(2_049), 'must have at most 2048 characters'],
    ['no text to be kept', ' \0', 'must not contain a NUL character or half of a surrogate pair'],
  ])('that is %s is told that alone', (_name, name, message) => {
    expect(named({ name }).error?.details.fieldErrors).toMatchObject([{ property: 'name', message }]);
  });
});

describe('An id of a row in a path', () => {
  const ids = validatorOf(idParams('A row.', 1), 'params');

  it.each(['1', '42', '9007199254740991'])('is the number %s', (id) => {
    expect(ids({ id })).toEqual({ value: { id: Number(id) } });
  });

  it.each(['0', '-1', '01', '1.0', '1e3', 'x', '', ' 1', '9007199254740992', '1'.repeat(400), 'null'])(
    'that is %j is one that no row has',
    (id) => {
      expect(ids({ id })).toEqual({ value: { id: 0 } });
    },
  );
});

describe('Parameters', () => {
  const parameters = validatorOf(
    Type.Object({ page: Type.Optional(Type.Integer({ minimum: 1 })), name: Type.Optional(Type.String()) }),
    'querystring',
  );

  it.each(['1', '20', '9007199254740991'])('take %s for a whole number', (page) => {
    expect(parameters({ page, name: '5' })).toEqual({ value: { page: Number(page), name: '5' } });
  });

  it.each(['', ' 1', '1 ', '01', '+1', '1.0', '1e3', '0x1', 'one', '0', '-1', ['1', '2']])(
    'refuse %j where a whole number belongs',
    (page) => {
      const { error } = parameters({ page });
      expect(error?.type).toBe('invalid-request');
      expect(error?.details.source).toBe('page');
    },
  );
});

describe('Parameters that are booleans or lists', () => {
  const parameters = validatorOf(
    Type.Object({
      running: Type.Optional(Type.Boolean()),
      port: Type.Optional(Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 3 })),
      name: Type.Optional(Type.String()),
    }),
    'querystring',
  );

  it.each([
    [{ running: 'true' }, { running: true }],
    [{ running: '1' }, { running: true }],
    [{ running: 'false' }, { running: false }],
    [{ running: '0' }, { running: false }],
    [{ port: '80' }, { port: [80] }],
    [{ port: ['80', '443'] }, { port: [80, 443] }],
    [{ name: 'true' }, { name: 'true' }],
  ])('%j become %j', (given, value) => {
    expect(parameters(given)).toEqual({ value });
  });

  it.each([
    { running: 'yes' },
    { running: '' },
    { running: ['true', 'true'] },
    { port: 'http' },
    { port: ['80', '0'] },
    { port: ['1', '2', '3', '4'] },
    { name: ['a', 'b'] },
  ])('%j are malformed', (given) => {
    expect(parameters(given).error?.type).toBe('invalid-request');
  });
});

describe('An offending value', () => {
  const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;

  it.each([
    ['text', 'text'],
    ['', ''],
    [5, '5'],
    [null, 'null'],
    [true, 'true'],
    [[], '[]'],
    [{}, '{}'],
    [{ a: [1, 'x"', null], b: { c: -0.5 } }, '{"a":[1,"x\\"",null],"b":{"c":-0.5}}'],
    ['x'.repeat(101), 'x'.repeat(100)],
    ['🔒'.repeat(101), '🔒'.repeat(100)],
    ['a\ud800', 'a\ufffd'],
    [['y'.repeat(1_000_000)], `["${'y'.repeat(98)}`],
    [Array<number>(1_000_000).fill(7), `[${'7,'.repeat(50)}`.slice(0, 100)],
    [nested(100_000), '['.repeat(100)],
  ])('is told in at most 100 characters', (value, expected) => {
    expect(formatRejectedValue(value)).toBe(expected);
  });
});

describe('Through the server', () => {
  const PATH = '/api/asset/v2/listings/none/assets';
  let server: TestServer;
  let token: string;
  beforeAll(async () => {
    server = await useSharedServer();
    token = (await createFixtures(server).user()).token;
  });
  afterAll(() => server.close());
  const send = (raw: string) => server.request('PATCH', PATH, { token, raw });

  it.each([
    ['deep', `{"remove":[${'['.repeat(500_000)}${']'.repeat(500_000)}]}`],
    ['deep and mixed', `{"remove":[${'{"a":['.repeat(200_000)}${']}'.repeat(200_000)}]}`],
  ])('a body that is very %s is malformed, and the answer is small', async (_name, raw) => {
    const response = await send(raw);
    expect(response.status).toBe(400);
    expect(response.body.detail).toContain('nested');
    expect(response.text.length).toBeLessThan(1_000);
  });

  it('a body of a million wrong values gets a small answer', async () => {
    const rules = `${'{"rule":""},'.repeat(300_000)}{"rule":""}`;
    const response = await send(`{"add":[{"assetUid":"x","scopeRules":[${rules}]}]}`);
    expect(response.status).toBe(422);
    expect(response.text.length).toBeLessThan(1_000);
  });

  it('many faults of one item are grouped under its index', async () => {
    const raw = JSON.stringify({
      add: [{ assetUid: 'x' }, { scopeRules: [{ rule: '' }, {}] }, { assetUid: '\0' }],
    });
    const fault = (property: string, value?: string) => ({
      property,
      message: expect.any(String),
      ...(value === undefined ? {} : { value }),
    });
    const response = await send(raw);
    const sorted = response.body.failedValidations.map(
      ({ index, failedValidation }: { index: number; failedValidation: { property: string }[] }) => ({
        index,
        failedValidation: failedValidation.toSorted((a, b) => (a.property < b.property ? -1 : 1)),
      }),
    );
    expect(sorted).toEqual([
      {
        index: 1,
        failedValidation: [
          fault('add.1.assetUid'),
          fault('add.1.scopeRules.0.rule', ''),
          fault('add.1.scopeRules.1.rule'),
        ],
      },
      { index: 2, failedValidation: [fault('add.2.assetUid', '\0')] },
    ]);
    expectProblem(server, response, {
      area: 'asset',
      status: 422,
      kind: 'validation-failed',
      failedValidations: response.body.failedValidations,
    });
  });
});

it('A choice that may be null is told without it', () => {
  const kind = Type.Optional(nullable(Type.Enum(['a', 'b'], { type: 'string' })));
  const choose = validatorOf(Type.Object({ kind }), 'body');
  expect([choose({ kind: null }).error, choose({ kind: 'a' }).error]).toEqual([undefined, undefined]);
  expect(choose({ kind: 'c' }).error?.details.fieldErrors).toEqual([
    { property: 'kind', message: 'must be one of a, b', value: 'c' },
  ]);
});

it('What may be one of two things is told what is wrong with the one that it was meant to be', () => {
  const tags = Type.Array(
    Type.Union([nameSchema('x'), Type.Object({ name: nameSchema('x'), id: Type.Optional(Type.Integer()) })]),
  );
  const choose = validatorOf(Type.Object({ tags }), 'body');
  const told = (items: unknown[]) =>
    choose({ tags: items }).error?.details.fieldErrors?.map(
      ({ property, message }) => `${property} ${message}`,
    );
  expect(told(['', { name: '' }, {}])).toEqual([
    'tags.0 must not be empty',
    'tags.1.name must not be empty',
    'tags.2.name is required',
  ]);
  expect(told(['x', 1])).toEqual(['tags.1 must match one of the allowed forms']);
});

it('Faults are told in words, without a regular expression, as one sentence', () => {
  const told = validatorOf(
    Type.Object({
      uid: Type.String({ pattern: '^[-_0-9a-z]{1,50}$' }),
      asset: Type.String({ pattern: '^[0-9a-f]{24}' }),
      user: Type.String({ pattern: '^[a-z]+$' }),
      count: Type.Integer(),
      name: nullable(Type.String()),
    }),
    'body',
  );
  const wrong = (body: object) =>
    told({ uid: 'a', asset: 'a'.repeat(24), user: 'a', count: 1, name: null, ...body });
  const messages = (body: object) => wrong(body).error?.details.fieldErrors?.map(({ message }) => message);
  expect(messages({ uid: 'A', asset: 'a', user: '1', count: 1.5 })).toEqual([
    'must be 1 to 50 characters of -, _, 0-9 and a-z',
    'must be 24 characters of 0-9 and a-f',
    'must contain only the characters a-z',
    'must be a whole number',
  ]);
  expect(messages({ uid: 1, count: [], name: {} })).toEqual([
    'must be text',
    'must be a number',
    'must be text or null',
  ]);
  expect(wrong({ uid: 'A', asset: 'a', user: '1', count: 1.5 }).error?.message).toMatch(
    /^uid must .*; asset must .*; user must .*; and 1 more\.$/,
  );
});

it('What the rules find wrong is one sentence as well, which says how much more there is', () => {
  const fault = (property: string) => ({ property, code: 'taken' }) as const;
  expect(invalidInput(fault('name')).message).toBe('name is already taken.');
  expect(invalidInput(['a', 'b', 'c', 'd', 'e'].map(fault)).message).toBe(
    'a is already taken; b is already taken; c is already taken; and 2 more.',
  );
});
