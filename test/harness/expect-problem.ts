import { expect } from 'vitest';
import { PROBLEM_TYPES, type ProblemType, type ProblemTypeName } from '../../src/http/problem-types.ts';
import type { TestResponse, TestServer } from './server.ts';

/** The expected members of a problem (shape B). Omitted members must be absent. */
export interface ProblemExpectation {
  area: 'v1' | 'tagging' | 'asset';
  status: number;
  /** The last part of `type`. */
  kind: string;
  failedValidation?: unknown;
  failedValidations?: unknown;
  maxBatchSize?: number;
  batchSize?: number;
}

/** Asserts that a response has error shape B, the specification's validation problem, with exactly these members. */
export function expectProblem(
  { context }: TestServer,
  response: TestResponse,
  { area, status, kind, ...rest }: ProblemExpectation,
): void {
  expect(response.body).toEqual({
    type: `${context.addresses.errorTypeBase}/${area}/${kind}`,
    title: expect.stringMatching(/./),
    status,
    detail: expect.stringMatching(/./),
    instance: response.headers.get('x-request-id'),
    ...rest,
  });
  // Its URL is a page.
  const { onlyArea = area }: ProblemType = PROBLEM_TYPES[kind as ProblemTypeName];
  expect(onlyArea).toBe(area);
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
}

/** Asserts that a response has error shape A: the request id and a message. */
export function expectSimpleError(response: TestResponse, status: number): void {
  expect(response.body).toEqual({
    id: response.headers.get('x-request-id'),
    error: expect.stringMatching(/./),
  });
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
}

/** Asserts that a response has the error shape of the area `assessment`. */
export function expectAssessmentProblem(
  { context }: TestServer,
  response: TestResponse,
  status: number,
  kind: string,
): void {
  expect(response.body).toEqual({
    status,
    title: expect.stringMatching(/./),
    type: `${context.addresses.errorTypeBase}/assessment/${kind}`,
    detail: expect.stringMatching(/./),
    instance: response.headers.get('x-request-id'),
    logId: response.headers.get('x-request-id'),
  });
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
}
