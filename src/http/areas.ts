import type { Addresses, AreaName, Config } from '../config/config.ts';
import type { ProblemTypeName } from './problem-types.ts';

/** The error bodies of the specification. */
export type ErrorBodyFormat = 'A' | 'B' | 'C' | 'D';

/** A part of the API with its own prefix and its own error bodies. */
export interface Area {
  name: AreaName | 'server';
  /** What every path of the area begins with. */
  prefix: string;
  errorBodyFormatOf(status: number): ErrorBodyFormat;
  /** Statuses that the area answers with another one. */
  statusOverrides?: Readonly<Record<number, number>>;
  /** Kinds of problem that have another name in the area. */
  problemTypes?: Partial<Record<ProblemTypeName, ProblemTypeName>>;
  /** The kind of a missing thing, as against an unknown path; `not-found` when absent. */
  notFoundType?: ProblemTypeName;
  /** The names and addresses that stand in the API description. */
  title: string;
}

const invalidIsMalformed = {
  statusOverrides: { 422: 400 },
  problemTypes: { 'validation-failed': 'invalid-request' },
} as const;

/** Who gets which body (docs/decided.md, section 4). */
export const AREAS: Readonly<Record<AreaName, Area>> = {
  v1: { name: 'v1', prefix: '/v1', title: 'V1', errorBodyFormatOf: () => 'B' },
  tagging: {
    name: 'tagging',
    prefix: '/api/tagging',
    title: 'Tagging',
    errorBodyFormatOf: (status) => ([400, 404, 405].includes(status) ? 'A' : 'B'),
  },
  assessment: {
    name: 'assessment',
    prefix: '/api/assessment',
    title: 'Assessment groups',
    errorBodyFormatOf: () => 'C',
    ...invalidIsMalformed,
    notFoundType: 'group-not-found',
  },
  asset: { name: 'asset', prefix: '/api/asset', title: 'Assets', errorBodyFormatOf: () => 'B' },
  streaming: {
    name: 'streaming',
    prefix: '/api/streaming',
    title: 'Ports',
    errorBodyFormatOf: () => 'D',
    ...invalidIsMalformed,
  },
};

/** Everything outside the areas. */
export const SERVER_AREA: Area = {
  name: 'server',
  prefix: '',
  title: 'Server',
  errorBodyFormatOf: () => 'B',
};

/** @returns the area that a path belongs to */
export function areaOfPath(path: string): Area {
  return Object.values(AREAS).find(({ prefix }) => path.startsWith(`${prefix}/`)) ?? SERVER_AREA;
}

/** @returns the address that stands before the paths of an area's operations: V1 has that of its deployment */
export function publicBaseUrl(
  { name, prefix }: Area,
  { addresses, config }: { addresses: Addresses; config: Config },
): string {
  const { baseUrl, baseUrlFedramp, clientBaseUrl } = addresses;
  const v1 = config.deployment === 'fedramp' ? baseUrlFedramp : baseUrl;
  return `${name === 'v1' ? v1 : clientBaseUrl}${prefix}`;
}
