import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import type { Context } from '../context.ts';
import { logServerError } from '../http/error-log.ts';
import { type Problem, toProblem } from '../http/problems.ts';

/** The codes of RFC 6749, section 5.2, and those of section 4.1.2.1 for server errors. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'server_error'
  | 'temporarily_unavailable';

/** An error response of an endpoint that applications call. */
export class OAuthError extends Error {
  override name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /** @param message for the application's developer, in ASCII without quotes and backslashes (RFC 6749, section 5.2) */
  constructor(
    code: OAuthErrorCode,
    message: string,
    { status = 400, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

/**
 * Sends errors of this scope in the form of RFC 6749, section 5.2, instead of the API's.
 * @param headers of error responses, which skip the hooks of the scope for an unsupported method
 */
export function handleOAuthErrors(
  scope: FastifyInstance,
  { log }: Context,
  headers: Readonly<Record<string, string>> = {},
): void {
  scope.setErrorHandler(async (error: FastifyError, request, reply) => {
    reply.headers(headers);
    if (error instanceof OAuthError) return sendOAuthError(reply, error);
    const problem = toProblem(error);
    if (problem.status >= 500) logServerError(log, request.id, problem);
    return sendOAuthError(reply, fromProblem(problem));
  });
}

function sendOAuthError(reply: FastifyReply, error: OAuthError): FastifyReply {
  return reply
    .code(error.status)
    .headers({ ...error.headers, 'cache-control': 'no-store', pragma: 'no-cache' })
    .send({ error: error.code, error_description: error.message });
}

function fromProblem(problem: Problem): OAuthError {
  const { status } = problem;
  const { headers = {} } = problem.details;
  switch (problem.type) {
    case 'rate-limited':
      return new OAuthError('temporarily_unavailable', 'Too many requests from this address.', {
        status,
        headers,
      });
    case 'unavailable':
      return new OAuthError('temporarily_unavailable', 'The server is temporarily unavailable. Try again.', {
        status,
        headers,
      });
    // A write conflict is worth a retry.
    case 'conflict':
      return new OAuthError('temporarily_unavailable', 'The server is temporarily unavailable. Try again.', {
        status: 503,
      });
    case 'internal-error':
      return new OAuthError('server_error', 'The server encountered an error.', { status });
    case 'method-not-allowed':
      return new OAuthError('invalid_request', 'The method must be POST.', { status, headers });
    case 'request-timeout':
      return new OAuthError('invalid_request', 'The body did not arrive in time.', { status, headers });
    case 'body-too-large':
      return new OAuthError('invalid_request', 'The body is too large.', { status });
    case 'unsupported-media-type':
      return new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded.');
    default:
      return new OAuthError('invalid_request', 'The request is malformed.');
  }
}
