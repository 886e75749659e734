/** What is wrong with one member of a request. */
export interface FieldError {
  /** The path to it, with dots: `title`, `assessments.1`. */
  property: string;
  message: string;
  value?: string;
}

/** An answer that is no success. */
export class AssayError extends Error {
  override name = 'AssayError';
  readonly status: number;
  /** The last part of the problem's `type`, as `/problems` lists them: `not-found`; empty where the area has none. */
  readonly kind: string;
  readonly fieldErrors: readonly FieldError[];
  /** As the server's log has it. */
  readonly requestId: string;
  /** In seconds: how long to wait before it is tried again; `undefined` where the server does not say. */
  readonly retryAfter: number | undefined;

  constructor(response: Response, body: unknown) {
    const told = (typeof body === 'object' && body !== null ? body : {}) as ErrorBody;
    const told14 = told.errors?.[0] ?? {};
    super(told.detail ?? told14.detail ?? told.error ?? told.title ?? statusText(response.status));
    this.status = response.status;
    this.kind = /\/([a-z-]+)$/.exec(told.type ?? '')?.[1] ?? '';
    this.fieldErrors = fieldErrorsOf(told);
    this.requestId = told.instance ?? told.id ?? told14.id ?? response.headers.get('x-request-id') ?? '';
    this.retryAfter = retryAfterOf(response);
  }
}

/** @returns what an answer without a body says: operation 6 has such */
function statusText(status: number): string {
  if (status === 403) return 'You may not do that.';
  if (status === 404) return 'There is no such thing, or you cannot reach it.';
  return `The server answered ${status}.`;
}

/** What the areas tell of an error, each in its own shape. */
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

/** @returns the error that an answer tells of; its body is read */
export async function readError(response: Response): Promise<AssayError> {
  const text = await response.text();
  try {
    return new AssayError(response, JSON.parse(text));
  } catch {
    return new AssayError(response, undefined);
  }
}

/** @returns the seconds that `Retry-After` asks to wait, which may be a date (RFC 9110, section 10.2.3) */
export function retryAfterOf({ headers }: Response): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
