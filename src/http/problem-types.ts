import type { AreaName } from '../config/config.ts';

export interface ProblemType {
  status: number;
  /** The one area that answers this; every area when absent. */
  onlyArea?: AreaName | 'server';
  title: string;
  meaning: string;
}

/** Every way in which a request can fail: its status, the title that people read, and what they can do about it. */
export const PROBLEM_TYPES = {
  'invalid-request': {
    status: 400,
    title: 'The request is malformed',
    meaning:
      'The body is not a JSON object, a field has the wrong JSON type, or a parameter has a value it cannot have. Where the area has no separate answer for them, values that are refused are reported here too. The detail says which field; correct it and send the request again.',
  },
  unauthorized: {
    status: 401,
    title: 'Authentication is needed',
    meaning:
      'The request has no credential, or one that is unknown, expired or revoked, or whose user is banned. Get a new token and send it again.',
  },
  forbidden: {
    status: 403,
    title: 'This is not allowed',
    meaning:
      'The credential is valid and does not allow this: the token lacks a scope, is used from an address outside its allow list, or the user does not have the role. Sending it again will not help.',
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    meaning: 'The path or the thing it names does not exist, or is out of your reach; both look the same.',
  },
  'group-not-found': {
    status: 404,
    onlyArea: 'assessment',
    title: 'Assessment group not found',
    meaning: 'The assessment group does not exist, or is out of your reach; both look the same.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The method is not allowed here',
    meaning: 'The path exists and does not have this method. The Allow header lists those it has.',
  },
  conflict: {
    status: 409,
    title: 'The change conflicts with what exists',
    meaning:
      'The name is taken, or others changed the same thing at the same time. Nothing was changed. Look at what is there, then decide.',
  },
  'precondition-failed': {
    status: 412,
    onlyArea: 'server',
    title: 'A precondition does not hold',
    meaning:
      'The request wants to go on only if the thing is as it was, by If-Match or If-Unmodified-Since, and it is not. Nothing was changed. Read it again, then decide.',
  },
  'batch-too-large': {
    status: 413,
    title: 'The batch is too large',
    meaning:
      'A list has more items than are taken at once. Nothing was changed. Send it in parts; where the body has maxBatchSize, that is the limit.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    meaning: 'The body has more bytes than this server takes. Send it in parts.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The body has an unsupported type',
    meaning: 'The API takes JSON: send the header Content-Type: application/json. Pages take forms only.',
  },
  'range-not-satisfiable': {
    status: 416,
    onlyArea: 'server',
    title: 'The requested range does not exist',
    meaning: 'Range asks for a part of a file that is not there. Ask for the whole file.',
  },
  'validation-failed': {
    status: 422,
    title: 'The request has invalid values',
    meaning:
      'The body has the right form and a value that is refused: a wrong pattern, length or choice, a name or an id that does not exist, or something required that is missing. Nothing was changed. failedValidation lists every fault, failedValidations those of an array by the index of the item.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    meaning:
      'There were more requests in a minute than are allowed. Retry-After says how many seconds to wait.',
  },
  'internal-error': {
    status: 500,
    title: 'The server failed',
    meaning:
      'The server failed, through no fault of the request. The reason is in its log, under the request id of the answer.',
  },
  unavailable: {
    status: 503,
    title: 'The service is unavailable',
    meaning:
      'The database does not answer, or not in time, or more people sign in than can be checked at once. Nothing was acknowledged. Retry-After says how many seconds to wait before the next try.',
  },
} as const satisfies Record<string, ProblemType>;

export type ProblemTypeName = keyof typeof PROBLEM_TYPES;
