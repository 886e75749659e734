import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idParams } from '../../src/api/v1-params.ts';
import { describeFieldError, invalidInput } from '../../src/domain/shared/errors.ts';
import { validateNameLength } from '../../src/domain/shared/names.ts';
import { formatRejectedValue } from '../../src/http/problems.ts';
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
        lines: Type.Optional(Type.Array(Type.String({ maxLength: 3 }), { maxItems: 2, 'x-batch': false })),
        parts: Type.Optional(Type.Array(Type.String(), { maxItems: 2 })),
      }),
      { maxItems: 3 },
    ),
  ),
});
type ValidationResult = { value?: unknown; error?: Problem };
const validatorOf = (definition: object, httpPart: string) =>
  compileValidator({ schema: definition as never, httpPart, method: 'POST', url: '/' }) as (
    input: unknown,
  ) => ValidationResult;
const validate = validatorOf(schema, 'body');
const fieldErrorsOf = (body: unknown) =>
  validate(body).error?.details.fieldErrors?.map(({ property }) => property);

describe('Schemas', () => {
  it('reject keywords that validation ignores', () => {
    const odd = { type: 'object', properties: { a: { type: 'string', contentEncoding: 'base64' } } };
    expect(() => validatorOf(odd, 'body')).toThrow('contentEncoding');
    expect(() => validatorOf(odd, 'querystring')).toThrow('contentEncoding');
  });

  it('are validated in unions and additional properties', () => {
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

describe('Bodies in which null means absent', () => {
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
  }) as (input: unknown) => ValidationResult;

  it('lose null properties except where null has a meaning', () => {
    const body = {
      name: 'a',
      size: null,
      due: null,
      parts: [1, { uid: 'x', note: null }],
      filter: { size: null },
      more: null,
    };
    const expected = { name: 'a', due: null, parts: [1, { uid: 'x' }], filter: {}, more: null };
    expect(lenient(body)).toEqual({ value: expected });
  });

  it('require non-null properties and items', () => {
    expect(lenient({ name: null }).error?.details.fieldErrors).toEqual([
      { property: 'name', message: 'is required' },
    ]);
    expect(lenient({ name: 'a', parts: [null] }).error?.type).toBe('invalid-request');
    expect(lenient(null).error?.type).toBe('invalid-request');
  });
});

describe('Bodies', () => {
  it.each([
    { name: 'abc' },
    { name: 'abc', size: 3, unknown: { kept: [1] } },
    { name: 'ab', items: [{ uid: '' }, { uid: 'x', lines: ['a', 'b'], parts: [] }] },
  ])('pass unchanged if valid: %j', (body) => {
    const response = validate(body);
    expect(response.error).toBeUndefined();
    expect(response.value).toBe(body);
  });

  it.each([
    ['are not objects', undefined, undefined],
    ['are null', null, undefined],
    ['are arrays', [], undefined],
    ['have a number for a string, which is not converted', { name: 5 }, ['name']],
    ['have a string for a number, which is not converted', { name: 'abc', size: '3' }, ['size']],
    ['have null for optional properties', { name: 'abc', size: null }, ['size']],
    ['have an object for an array', { name: 'abc', items: {} }, ['items']],
    [
      'have wrong nested types',
      { name: 'abc', items: [{ uid: 1 }, 'x', { uid: 'y', lines: [true, 'a', null] }] },
      ['items.0.uid', 'items.1', 'items.2.lines', 'items.2.lines.0', 'items.2.lines.2'],
    ],
    [
      'have wrong types beside wrong values',
      { name: '', size: [], items: [{}, 1] },
      ['name', 'name', 'size', 'items.0.uid', 'items.1'],
    ],
    [
      'have wrong types beside too many items: only the first is reported',
      { name: '', size: [], items: Array.from({ length: 9 }, () => 1) },
      ['size'],
    ],
  ])('are malformed if they %s', (_name, body, fieldErrors) => {
    expect(validate(body).error?.type).toBe('invalid-request');
    expect(fieldErrorsOf(body)).toEqual(fieldErrors);
  });

  it.each([
    ['lack required properties', { size: 1 }, ['name']],
    ['have a number of the wrong kind', { name: 'abc', size: 1.5 }, ['size']],
    ['have several errors in one value', { name: '1234567' }, ['name', 'name']],
    [
      'have errors in several items',
      { name: 'abc', items: [{}, { uid: 'x' }, { uid: 'x', lines: ['long one'] }] },
      ['items.0.uid', 'items.2.lines.0'],
    ],
    [
      'have too many items in a list that is not a batch',
      { name: 'abc', items: [{ uid: 'x', lines: ['a', 'b', 'c'] }] },
      ['items.0.lines'],
    ],
    ['have a NUL character', { name: 'a\0' }, ['name']],
    [
      'have half a surrogate pair in a nested value',
      { name: 'abc', items: [{ uid: '\ud800', lines: ['\udfff'] }] },
      ['items.0.uid', 'items.0.lines.0'],
    ],
  ])('are invalid if they %s', (_name, body, fieldErrors) => {
    expect(validate(body).error?.type).toBe('validation-failed');
    expect(fieldErrorsOf(body)?.sort()).toEqual([...fieldErrors].sort());
  });

  it('may contain surrogate pairs, which count as one character', () => {
    expect(validate({ name: 'a🔒🔒🔒🔒' }).error).toBeUndefined();
  });

  it.each([
    ['a batch', { items: Array.from({ length: 4 }, () => ({})) }, 'items', 3, 4],
    ['a nested batch', { items: [{ uid: 'x' }, { parts: ['a', 'b', '\0'] }] }, 'items.1.parts', 2, 3],
  ])('with too many items in %s return only that error', (_name, body, source, max, size) => {
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
  ])('with a million %s return only the first', (_name, items, kind) => {
    const { error } = validate({ name: 'abc', items });
    expect(error?.type).toBe(kind);
    expect(error?.details.fieldErrors?.length).toBe(1);
  });

  it('with many unknown properties return only the first', () => {
    const strict = validatorOf(Type.Object({}, { additionalProperties: false }), 'body');
    const withProperties = (count: number) =>
      strict(Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, index])));
    expect(withProperties(20_000).error?.details.fieldErrors?.length).toBe(20_000);
    expect(withProperties(20_001).error?.details.fieldErrors?.length).toBe(1);
  });
});

describe('Names', () => {
  const validateName = validatorOf(Type.Object({ name: nameSchema('x') }), 'body');
  const surrogatePair = '\u{1f512}';

  it.each([
    [
      'x',
      'xx',
      ' x ',
      'a b',
      'x'.repeat(255),
      `\u3000${'x'.repeat(255)}\n`,
      surrogatePair.repeat(255),
      `a\n${surrogatePair}\ufeff`,
    ],
    [
      '',
      ' ',
      '\t\u00a0\ufeff',
      'x'.repeat(256),
      surrogatePair.repeat(256),
      ` ${'x '.repeat(128)}x`,
      ' '.repeat(2_048),
    ],
  ])('are validated before lookups: %j and others', (...names) => {
    for (const name of names) {
      const fieldError = validateNameLength('name', name);
      expect(validateName({ name }).error?.details.fieldErrors).toEqual(
        fieldError && [describeFieldError(fieldError)],
      );
    }
  });

  it.each([
    ['longer than any text', 'x'.repeat(2_049), 'must have at most 2048 characters'],
    ['not storable text', ' \0', 'must not contain a NUL character or half of a surrogate pair'],
  ])('that are %s return only that error', (_name, name, message) => {
    expect(validateName({ name }).error?.details.fieldErrors).toMatchObject([{ property: 'name', message }]);
  });
});

describe('Row ids in a path', () => {
  const ids = validatorOf(idParams('A row.', 1), 'params');

  it.each(['1', '42', '9007199254740991'])('parse %s as a number', (id) => {
    expect(ids({ id })).toEqual({ value: { id: Number(id) } });
  });

  it.each(['0', '-1', '01', '1.0', '1e3', 'x', '', ' 1', '9007199254740992', '1'.repeat(400), 'null'])(
    'parse %j as an id that no row has',
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

  it.each(['1', '20', '9007199254740991'])('parse %s as an integer', (page) => {
    expect(parameters({ page, name: '5' })).toEqual({ value: { page: Number(page), name: '5' } });
  });

  it.each(['', ' 1', '1 ', '01', '+1', '1.0', '1e3', '0x1', 'one', '0', '-1', ['1', '2']])(
    'reject %j as an integer',
    (page) => {
      const { error } = parameters({ page });
      expect(error?.type).toBe('invalid-request');
      expect(error?.details.source).toBe('page');
    },
  );
});

describe('Boolean and list parameters', () => {
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
  ])('parse %j as %j', (text, value) => {
    expect(parameters(text)).toEqual({ value });
  });

  it.each([
    { running: 'yes' },
    { running: '' },
    { running: ['true', 'true'] },
    { port: 'http' },
    { port: ['80', '0'] },
    { port: ['1', '2', '3', '4'] },
    { name: ['a', 'b'] },
  ])('reject %j', (text) => {
    expect(parameters(text).error?.type).toBe('invalid-request');
  });
});

describe('Rejected values', () => {
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
  ])('are returned with at most 100 characters', (value, expected) => {
    expect(formatRejectedValue(value)).toBe(expected);
  });
});

describe('Validation in the server', () => {
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
  ])('returns a short 400 for a very %s body', async (_name, raw) => {
    const response = await send(raw);
    expect(response.status).toBe(400);
    expect(response.body.detail).toContain('nested');
    expect(response.text.length).toBeLessThan(1_000);
  });

  it('returns a short error for hundreds of thousands of wrong values', async () => {
    const rules = `${'{"rule":""},'.repeat(200_000)}{"rule":""}`;
    const response = await send(`{"add":[{"assetUid":"x","scopeRules":[${rules}]}]}`);
    expect(response.status).toBe(422);
    expect(response.text.length).toBeLessThan(1_000);
  });

  it('groups the errors of an item under its index', async () => {
    const raw = JSON.stringify({
      add: [{ assetUid: 'x' }, { scopeRules: [{ rule: '' }, {}] }, { assetUid: '\0' }],
    });
    const fieldError = (property: string, value?: string) => ({
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
          fieldError('add.1.assetUid'),
          fieldError('add.1.scopeRules.0.rule', ''),
          fieldError('add.1.scopeRules.1.rule'),
        ],
      },
      { index: 2, failedValidation: [fieldError('add.2.assetUid', '\0')] },
    ]);
    expectProblem(server, response, {
      area: 'asset',
      status: 422,
      kind: 'validation-failed',
      failedValidations: response.body.failedValidations,
    });
  });
});

it('Errors of a nullable enum do not mention null', () => {
  const kind = Type.Optional(nullable(Type.Enum(['a', 'b'], { type: 'string' })));
  const choose = validatorOf(Type.Object({ kind }), 'body');
  expect([choose({ kind: null }).error, choose({ kind: 'a' }).error]).toEqual([undefined, undefined]);
  expect(choose({ kind: 'c' }).error?.details.fieldErrors).toEqual([
    { property: 'kind', message: 'must be one of a, b', value: 'c' },
  ]);
});

it('Errors of a union refer to the alternative that was meant', () => {
  const tags = Type.Array(
    Type.Union([nameSchema('x'), Type.Object({ name: nameSchema('x'), id: Type.Optional(Type.Integer()) })]),
  );
  const choose = validatorOf(Type.Object({ tags }), 'body');
  const errorsOf = (items: unknown[]) =>
    choose({ tags: items }).error?.details.fieldErrors?.map(
      ({ property, message }) => `${property} ${message}`,
    );
  expect(errorsOf(['', { name: '' }, {}])).toEqual([
    'tags.0 must not be empty',
    'tags.1.name must not be empty',
    'tags.2.name is required',
  ]);
  expect(errorsOf(['x', 1])).toEqual(['tags.1 must match one of the allowed forms']);
});

it('Schema errors are one sentence without regular expressions', () => {
  const validateSchema = validatorOf(
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
    validateSchema({ uid: 'a', asset: 'a'.repeat(24), user: 'a', count: 1, name: null, ...body });
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

it('Domain errors are one sentence with the number of further errors', () => {
  const fieldError = (property: string) => ({ property, code: 'taken' }) as const;
  expect(invalidInput(fieldError('name')).message).toBe('name is already taken.');
  expect(invalidInput(['a', 'b', 'c', 'd', 'e'].map(fieldError)).message).toBe(
    'a is already taken; b is already taken; c is already taken; and 2 more.',
  );
});
