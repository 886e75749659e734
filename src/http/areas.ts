import type { Addresses, AreaName, Config } from '../config/config.ts';
import type { ProblemTypeName } from './problem-types.ts';

/** The forms of an error's body: shapes A, B, C and D of the specification. */
export type ErrorBodyFormat = 'simple' | 'problem' | 'loggedProblem' | 'sourcedProblem';

/** A part of the API with its own path prefix and error format. */
export interface Area {
  name: AreaName | 'server';
  prefix: string;
  errorBodyFormatOf(status: number): ErrorBodyFormat;
  /** Statuses that the area replaces by another. */
  statusOverrides?: Readonly<Record<number, number>>;
  /** Problem types that have another name in the area. */
  problemTypes?: Partial<Record<ProblemTypeName, ProblemTypeName>>;
  /** The problem type of a missing object, as opposed to an unknown path. Defaults to `not-found`. */
  notFoundType?: ProblemTypeName;
  /** The tag in the API description. */
  title: string;
}

const INVALID_AS_MALFORMED = {
  statusOverrides: { 422: 400 },
  problemTypes: { 'validation-failed': 'invalid-request' },
} as const;

/** Error formats by area (docs/decided.md, section 4). */
export const AREAS: Readonly<Record<AreaName, Area>> = {
  v1: { name: 'v1', prefix: '/v1', title: 'V1', errorBodyFormatOf: () => 'problem' },
  tagging: {
    name: 'tagging',
    prefix: '/api/tagging',
    title: 'Tagging',
    errorBodyFormatOf: (status) => ([400, 404, 405].includes(status) ? 'simple' : 'problem'),
  },
  assessment: {
    name: 'assessment',
    prefix: '/api/assessment',
    title: 'Assessment groups',
    errorBodyFormatOf: () => 'loggedProblem',
    ...INVALID_AS_MALFORMED,
    notFoundType: 'group-not-found',
  },
  asset: { name: 'asset', prefix: '/api/asset', title: 'Assets', errorBodyFormatOf: () => 'problem' },
  streaming: {
    name: 'streaming',
    prefix: '/api/streaming',
    title: 'Ports',
    errorBodyFormatOf: () => 'sourcedProblem',
    ...INVALID_AS_MALFORMED,
  },
};

/** Everything outside the areas. */
export const SERVER_AREA: Area = {
  name: 'server',
  prefix: '',
  title: 'Server',
  errorBodyFormatOf: () => 'problem',
};

export function areaOfPath(path: string): Area {
  return Object.values(AREAS).find(({ prefix }) => path.startsWith(`${prefix}/`)) ?? SERVER_AREA;
}

/** Returns the base URL of an area's operations. That of V1 depends on the deployment. */
export function publicBaseUrl(
  { name, prefix }: Area,
  { addresses, config }: { addresses: Addresses; config: Config },
): string {
  const { baseUrl, baseUrlFedramp, clientBaseUrl } = addresses;
  const v1 = config.deployment === 'fedramp' ? baseUrlFedramp : baseUrl;
  return `${name === 'v1' ? v1 : clientBaseUrl}${prefix}`;
}
