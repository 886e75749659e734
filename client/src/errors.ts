/** An error in one field of a request. */
export interface FieldError {
  /** Path with dots: `title`, `assessments.1`. */
  property: string;
  message: string;
  value?: string;
}

/** An error response. */
export class AssayError extends Error {
  override name = 'AssayError';
  readonly status: number;
  /** Last segment of the problem `type`, listed at `/problems`, such as `not-found`; empty if there is none. */
  readonly kind: string;
  readonly fieldErrors: readonly FieldError[];
  /** Also in the log of the server. */
  readonly requestId: string;
  /** Seconds to wait before a retry, if the server sent `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(response: Response, body: unknown) {
    const problem = (typeof body === 'object' && body !== null ? body : {}) as ErrorBody;
    const first = problem.errors?.[0] ?? {};
    super(problem.detail ?? first.detail ?? problem.error ?? problem.title ?? statusText(response.status));
    this.status = response.status;
    this.kind = /\/([a-z-]+)$/.exec(problem.type ?? '')?.[1] ?? '';
    this.fieldErrors = fieldErrorsOf(problem);
    this.requestId = problem.instance ?? problem.id ?? first.id ?? response.headers.get('x-request-id') ?? '';
    this.retryAfter = retryAfterOf(response);
  }
}

/** Returns a message for a response without a body, as of operation 6. */
function statusText(status: number): string {
  if (status === 403) return 'You do not have permission to do this.';
  if (status === 404) return 'Not found, or you do not have access.';
  return `The server responded with status ${status}.`;
}

/** The error formats of all areas of the API. */
interface ErrorBody {
  type?: string;
  title?: string;
  detail?: string;
  error?: string;
  instance?: string;
  id?: string;
  failedValidation?: FieldError[];
  failedValidations?: { index: number; failedValidation: FieldError[] }[];
  errors?: ErrorBody[];
}

function fieldErrorsOf({ failedValidation = [], failedValidations = [] }: ErrorBody): FieldError[] {
  return [...failedValidation, ...failedValidations.flatMap((item) => item.failedValidation)];
}

/** Reads the body of an error response. */
export async function readError(response: Response): Promise<AssayError> {
  const text = await response.text();
  try {
    return new AssayError(response, JSON.parse(text));
  } catch {
    return new AssayError(response, undefined);
  }
}

/** Returns `Retry-After` in seconds; the header may also be a date (RFC 9110, section 10.2.3). */
export function retryAfterOf({ headers }: Response): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
