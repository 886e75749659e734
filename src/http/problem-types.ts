import type { AreaName } from '../config/config.ts';

export interface ProblemType {
  status: number;
  /** The only area with this type. Defaults to every area. */
  onlyArea?: AreaName;
  title: string;
  meaning: string;
}

/** Problem types (RFC 9457): status, title, and advice for the client. */
export const PROBLEM_TYPES = {
  'invalid-request': {
    status: 400,
    title: 'The request is malformed',
    meaning:
      'The body is not a JSON object, a field has the wrong JSON type, or a parameter is invalid. Areas without 422 report invalid values here too. Correct the field named in the detail and send the request again.',
  },
  unauthorized: {
    status: 401,
    title: 'Authentication required',
    meaning:
      'The request has no credential, or the credential is unknown, expired or revoked, or its user is banned. Get a new token and send the request again.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning:
      'The credential is valid but does not permit this: the token lacks a scope or is used from an address outside its allow list, or the user lacks the role. Do not retry.',
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    meaning: 'The path or the object does not exist, or you do not have access to it.',
  },
  'group-not-found': {
    status: 404,
    onlyArea: 'assessment',
    title: 'Assessment group not found',
    meaning: 'The assessment group does not exist, or you do not have access to it.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    meaning:
      'The path exists but does not support this method. The Allow header lists the supported methods.',
  },
  'request-timeout': {
    status: 408,
    title: 'Request too slow',
    meaning:
      'The head or the body of the request did not arrive in time. Nothing was changed. Send the whole request again, an upload over a faster connection.',
  },
  conflict: {
    status: 409,
    title: 'Conflict with the current state',
    meaning:
      'The name is already taken, or another request changed the same object at the same time. Nothing was changed. Check the current state before you retry.',
  },
  'precondition-failed': {
    status: 412,
    title: 'Precondition failed',
    meaning:
      'The object does not match If-Match or If-Unmodified-Since. Nothing was changed. Read the object again before you retry.',
  },
  'batch-too-large': {
    status: 413,
    title: 'Batch too large',
    meaning:
      'A list has too many items. Nothing was changed. Split it into several requests; maxBatchSize, if present, is the limit.',
  },
  'body-too-large': {
    status: 413,
    title: 'Body too large',
    meaning: 'The body is larger than the server accepts. Split it into several requests.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'The API accepts JSON: send the header Content-Type: application/json. Pages accept forms only.',
  },
  'range-not-satisfiable': {
    status: 416,
    title: 'Range not satisfiable',
    meaning: 'Range requests a part of the file that does not exist. Request the whole file.',
  },
  'validation-failed': {
    status: 422,
    title: 'Invalid values',
    meaning:
      'The body has the right format, but a value is invalid: its pattern or length, a value that is not one of the choices, a name or an id that does not exist, or a missing required value. Nothing was changed. failedValidation lists every error; failedValidations lists those of an array by the index of the item.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    meaning:
      'More requests per minute were sent than allowed. Wait for the number of seconds in Retry-After.',
  },
  'internal-error': {
    status: 500,
    title: 'Internal server error',
    meaning:
      'The server failed. The request is not at fault. The log has the cause under the request id of the response.',
  },
  unavailable: {
    status: 503,
    title: 'Service unavailable',
    meaning:
      'The database did not respond in time, or too many people are signing in at once. The request was not acknowledged. Wait for the number of seconds in Retry-After before you retry.',
  },
} as const satisfies Record<string, ProblemType>;

export type ProblemTypeName = keyof typeof PROBLEM_TYPES;
