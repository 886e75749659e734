import { ERRORS, FIELD_ERRORS } from './error-codes.ts';

type ParametersOf<Message> = Message extends (parameters: infer P) => string ? P : undefined;

type FieldErrors = typeof FIELD_ERRORS;
/** The code of a field error, with the parameters of its message. */
export type FieldErrorReason = {
  [C in keyof FieldErrors]: ParametersOf<FieldErrors[C]> extends infer P
    ? P extends undefined
      ? { code: C; params?: undefined }
      : { code: C; params: P }
    : never;
}[keyof FieldErrors];

export type FieldError = FieldErrorReason & {
  /** Dotted path from the root of the input: `tags.3.name`. */
  property: string;
  /** The rejected value; absent when it is missing or secret. */
  value?: unknown;
};

/**
 * - `not-found`: it does not exist, or the caller cannot access it; the two must look the same
 * - `forbidden`: it exists, but the caller's role or its own state does not allow the request
 * - `invalid`: the input is well-formed but wrong; `fieldErrors` says where
 * - `conflict`: it clashes with existing data
 * - `version-mismatch`: it does not have the expected version
 * - `limit-exceeded`: it would exceed a number of stored items; `fieldErrors` says which input
 * - `rate-limited`: too many attempts; the parameters have the seconds to wait
 * - `too-many`: it would change more items than one request may; `sizeLimit` has the numbers
 */
export type DomainErrorKind = keyof typeof ERRORS;

type ErrorCode = { [K in DomainErrorKind]: keyof (typeof ERRORS)[K] }[DomainErrorKind];
type ErrorParameters<C> = {
  [K in DomainErrorKind]: C extends keyof (typeof ERRORS)[K] ? ParametersOf<(typeof ERRORS)[K][C]> : never;
}[DomainErrorKind];
type Details = [fieldErrors?: readonly FieldError[], sizeLimit?: SizeLimit];
type ErrorArguments<C> =
  ErrorParameters<C> extends undefined
    ? [params?: undefined, ...Details]
    : [params: ErrorParameters<C>, ...Details];

const KINDS = new Map(
  Object.entries(ERRORS).flatMap(([kind, codes]) =>
    Object.keys(codes).map((code) => [code, kind as DomainErrorKind] as const),
  ),
);

/** The number of items that a request may change, and that it would change. */
export interface SizeLimit {
  max: number;
  size: number;
}

/** The error of a request that a rule of the domain rejects. Each interface converts it to its own error body. */
export class DomainError<C extends ErrorCode = ErrorCode> extends Error {
  override name = 'DomainError';
  /** Not named `code`, by which errors of database drivers are recognized. */
  readonly errorCode: C;
  readonly params: ErrorParameters<C> | undefined;
  readonly kind: DomainErrorKind;
  readonly fieldErrors: readonly FieldError[];
  readonly sizeLimit: SizeLimit | undefined;

  constructor(code: C, ...[params, fieldErrors = [], sizeLimit]: ErrorArguments<C>) {
    const kind = KINDS.get(code) ?? 'invalid';
    super(messageOf(ERRORS[kind], code, params));
    this.errorCode = code;
    this.params = params;
    this.kind = kind;
    this.fieldErrors = fieldErrors;
    this.sizeLimit = sizeLimit;
  }
}

/**
 * @param outcome the result of a rule that returns an error instead of throwing it, so that its writes are committed
 * @throws DomainError the error
 */
export function unwrapOutcome<T>(outcome: T | DomainError): T {
  if (outcome instanceof DomainError) throw outcome;
  return outcome;
}

/** @returns the error for something that does not exist or that the caller cannot access */
export function notFound(resource: string): DomainError {
  return new DomainError('not-found', { resource });
}

/** @returns the error for invalid inputs */
export function invalidInput(errors: FieldError | readonly FieldError[]): DomainError {
  return inputError('invalid-input', 'property' in errors ? [errors] : errors);
}

/** @returns the error for an input that would exceed a number of stored items */
export function limitExceeded(error: FieldError): DomainError {
  return inputError('limit-exceeded', [error]);
}

type InputErrorCode = 'invalid-input' | 'limit-exceeded';

function inputError(code: InputErrorCode, fieldErrors: readonly FieldError[]): DomainError {
  const summary = summarizeFieldErrors(fieldErrors.map(describeFieldError), 'It');
  return new DomainError(code, { summary }, fieldErrors);
}

/** Whether the error is that of an input; its message then consists of its field errors. */
export function isInputError(error: DomainError): error is DomainError<InputErrorCode> {
  return error.errorCode === 'invalid-input' || error.errorCode === 'limit-exceeded';
}

export interface DescribedFieldError {
  property: string;
  /** The sentence, which follows the name of the property. */
  message: string;
  value?: unknown;
}

/** @returns the field error with its message in place of its code */
export function describeFieldError(error: FieldError): DescribedFieldError {
  const { property, value } = error;
  return { property, message: fieldErrorMessage(error), ...(value === undefined ? {} : { value }) };
}

/** @returns the message of a field error, which follows the name of the field */
export function fieldErrorMessage({ code, params }: FieldErrorReason): string {
  return messageOf(FIELD_ERRORS, code, params);
}

function messageOf(
  messages: Readonly<Record<string, string | ((params: never) => string)>>,
  code: string,
  params: unknown,
): string {
  const message = messages[code] ?? '';
  // The types of the errors pair each code with its parameters.
  return typeof message === 'string' ? message : message(params as never);
}

/**
 * @param subject name of the input, for errors without a property
 * @returns one sentence with the first three errors and the number of further ones
 */
export function summarizeFieldErrors(errors: readonly DescribedFieldError[], subject: string): string {
  const first = errors.slice(0, 3).map(({ property, message }) => `${property || subject} ${message}`);
  const remaining = errors.length - first.length;
  return `${first.join('; ')}${remaining > 0 ? `; and ${remaining} more` : ''}.`;
}

/**
 * Renames the inputs of errors for an interface that has other names for them.
 * @param names the interface's names by the rule's names. A star matches an index, on both sides; a path may continue
 *   after the pattern. Inputs without an entry keep their name.
 */
export function renameFieldErrors(
  errors: readonly FieldError[],
  names: Readonly<Record<string, string>>,
): FieldError[] {
  return errors.map((fieldError): FieldError => {
    const property = renamePath(fieldError.property, names);
    return fieldError.params !== undefined && 'other' in fieldError.params
      ? ({
          ...fieldError,
          property,
          params: { other: renamePath(fieldError.params.other, names) },
        } as FieldError)
      : { ...fieldError, property };
  });
}

/** Renames the inputs of an error, as `renameFieldErrors` does. */
export function renameFields(error: DomainError, names: Readonly<Record<string, string>>): DomainError {
  const fieldErrors = renameFieldErrors(error.fieldErrors, names);
  return isInputError(error)
    ? inputError(error.errorCode, fieldErrors)
    : new DomainError(error.errorCode, error.params, fieldErrors, error.sizeLimit);
}

function renamePath(property: string, names: Readonly<Record<string, string>>): string {
  const path = property.split('.');
  for (const [from, to] of Object.entries(names)) {
    const pattern = from.split('.');
    const matches = pattern.every(
      (part, index) => part === path[index] || (part === '*' && /^\d+$/.test(path[index] ?? '')),
    );
    if (!matches) continue;
    const indexes = path.filter((_part, index) => pattern[index] === '*');
    return [
      ...to.split('.').map((part) => (part === '*' ? indexes.shift() : part)),
      ...path.slice(pattern.length),
    ].join('.');
  }
  return property;
}
