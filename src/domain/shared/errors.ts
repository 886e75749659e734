import { ERROR_MESSAGES, FIELD_MESSAGES } from './messages.ts';

/** A code of a table of messages, with the parameters of its sentence. */
type Coded<M> = {
  [C in keyof M]: M[C] extends (params: infer P) => string
    ? { code: C; params: P }
    : { code: C; params?: undefined };
}[keyof M];

/** An error in an input. */
export type FieldProblem = Coded<typeof FIELD_MESSAGES>;

/** The reason why a rule rejects a request. */
export type DomainProblem = Coded<typeof ERROR_MESSAGES>;

/** An error in one input. */
export type FieldError = FieldProblem & {
  /** Dotted path from the root of the input: `tags.3.name`. */
  property: string;
  /** The rejected value; absent when it is missing or secret. */
  value?: unknown;
};

/**
 * - `not-found`: it does not exist, or the caller cannot access it; the two must look the same
 * - `forbidden`: it exists, but the caller's role or its own state does not allow the change
 * - `invalid`: the input is well-formed but wrong; `fieldErrors` says where
 * - `conflict`: it clashes with existing data
 * - `version-mismatch`: it does not have the expected version
 * - `limit-exceeded`: it would exceed a number of stored items; `fieldErrors` says which input
 * - `rate-limited`: too many attempts; the problem has the seconds to wait
 * - `too-many`: it would change more items than one request may; `sizeLimit` has the numbers
 */
export type DomainErrorKind =
  | 'not-found'
  | 'forbidden'
  | 'invalid'
  | 'conflict'
  | 'version-mismatch'
  | 'limit-exceeded'
  | 'rate-limited'
  | 'too-many';

/** The number of items that a request may change, and that it would change. */
export interface SizeLimit {
  max: number;
  size: number;
}

/** A request that a rule of the domain rejects. Each interface converts it to its own error body. */
export class DomainError extends Error {
  override name = 'DomainError';
  readonly kind: DomainErrorKind;
  readonly problem: DomainProblem;
  readonly fieldErrors: readonly FieldError[];
  readonly sizeLimit: SizeLimit | undefined;

  constructor(
    kind: DomainErrorKind,
    problem: DomainProblem,
    fieldErrors: readonly FieldError[] = [],
    sizeLimit?: SizeLimit,
  ) {
    super(messageOf(ERROR_MESSAGES, problem));
    this.kind = kind;
    this.problem = problem;
    this.fieldErrors = fieldErrors;
    this.sizeLimit = sizeLimit;
  }
}

/**
 * @param outcome of a rule that returns an error instead of throwing it, so that what it wrote can be committed
 * @throws DomainError the error
 */
export function unwrapOutcome<T>(outcome: T | DomainError): T {
  if (outcome instanceof DomainError) throw outcome;
  return outcome;
}

/** @returns the error for something that does not exist or that the caller cannot access */
export function notFound(thing: string): DomainError {
  return new DomainError('not-found', { code: 'not-found', params: { thing } });
}

/** @returns the error for invalid inputs */
export function invalidInput(errors: FieldError | readonly FieldError[]): DomainError {
  return inputError('invalid', 'property' in errors ? [errors] : errors);
}

/** @returns the error for an input that would exceed a number of stored items */
export function limitExceeded(error: FieldError): DomainError {
  return inputError('limit-exceeded', [error]);
}

type InputErrorKind = 'invalid' | 'limit-exceeded';

function inputError(kind: InputErrorKind, fieldErrors: readonly FieldError[]): DomainError {
  const summary = summarizeFieldErrors(fieldErrors.map(describeFieldError), 'It');
  return new DomainError(kind, { code: 'invalid-input', params: { summary } }, fieldErrors);
}

/** Whether the error is that of an input; its message then consists of its field errors. */
export function isInputError(error: DomainError): error is DomainError & { kind: InputErrorKind } {
  return error.kind === 'invalid' || error.kind === 'limit-exceeded';
}

/** A field error with its sentence. */
export interface FieldMessage {
  property: string;
  /** The sentence, which follows the name of the property. */
  message: string;
  value?: unknown;
}

/** @returns the field error with its sentence in place of its code */
export function describeFieldError(error: FieldError): FieldMessage {
  const { property, value } = error;
  return { property, message: describeFieldProblem(error), ...(value === undefined ? {} : { value }) };
}

/** @returns the sentence of a field problem, which follows the name of the input */
export function describeFieldProblem(problem: FieldProblem): string {
  return messageOf(FIELD_MESSAGES, problem);
}

function messageOf(
  messages: Readonly<Record<string, string | ((params: never) => string)>>,
  { code, params }: { code: string; params?: object | undefined },
): string {
  const message = messages[code] ?? '';
  // Each problem's type contains the parameters of its sentence.
  return typeof message === 'string' ? message : message(params as never);
}

/**
 * @param subject name of the input, for errors without a property
 * @returns one sentence with the first three errors and the number of further ones
 */
export function summarizeFieldErrors(errors: readonly FieldMessage[], subject: string): string {
  const first = errors.slice(0, 3).map(({ property, message }) => `${property || subject} ${message}`);
  const more = errors.length - first.length;
  return `${first.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
}

/**
 * Renames the inputs of errors for an interface that has other names for them.
 * @param names from the rule's input to the interface's. A star stands for an index, on both sides; a path may continue
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
    ? inputError(error.kind, fieldErrors)
    : new DomainError(error.kind, error.problem, fieldErrors, error.sizeLimit);
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
