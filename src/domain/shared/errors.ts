import { ERROR_MESSAGES, FIELD_MESSAGES } from './messages.ts';

/** A code of a table of messages, with the parameters that its sentence needs. */
type Coded<M> = {
  [C in keyof M]: M[C] extends (params: infer P) => string
    ? { code: C; params: P }
    : { code: C; params?: undefined };
}[keyof M];

/** What is wrong with an input. */
export type FieldProblem = Coded<typeof FIELD_MESSAGES>;

/** Why a rule refuses a request. */
export type DomainProblem = Coded<typeof ERROR_MESSAGES>;

/** An input that is wrong. */
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
 * - `too-many`: it would change more items than one request may; `sizeLimit` has the numbers
 */
export type DomainErrorKind =
  'not-found' | 'forbidden' | 'invalid' | 'conflict' | 'version-mismatch' | 'too-many';

/** How many items a request may change, and how many it would. */
export interface SizeLimit {
  max: number;
  size: number;
}

/** A request that a rule of the domain refuses. Each face turns it into its own error body. */
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

/** @returns the error of something that does not exist or that the caller cannot access */
export function notFound(thing: string): DomainError {
  return new DomainError('not-found', { code: 'not-found', params: { thing } });
}

/** @returns the error of wrong inputs */
export function invalidInput(wrong: FieldError | readonly FieldError[]): DomainError {
  const fieldErrors = 'property' in wrong ? [wrong] : wrong;
  const summary = summarizeFieldErrors(fieldErrors.map(describeFieldError), 'It');
  return new DomainError('invalid', { code: 'invalid-input', params: { summary } }, fieldErrors);
}

/** A field error as people read it. */
export interface FieldMessage {
  property: string;
  /** Follows the name of the property. */
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
  // The types of the problem hold the parameters that its sentence needs.
  return typeof message === 'string' ? message : message(params as never);
}

/**
 * @param whole names the input in errors without a property
 * @returns one sentence with the first three errors, and how many more there are
 */
export function summarizeFieldErrors(errors: readonly FieldMessage[], whole: string): string {
  const first = errors.slice(0, 3).map(({ property, message }) => `${property || whole} ${message}`);
  const more = errors.length - first.length;
  return `${first.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
}

/**
 * Renames the inputs of an error for a face that has other names for them.
 * @param names from the rule's input to the face's; a star stands for an index, on both sides, and a path may go on
 *   behind the pattern. Inputs without an entry keep their name.
 */
export function renameFields(error: DomainError, names: Readonly<Record<string, string>>): DomainError {
  const fieldErrors = error.fieldErrors.map((fieldError): FieldError => {
    const property = renamePath(fieldError.property, names);
    return fieldError.params !== undefined && 'other' in fieldError.params
      ? ({
          ...fieldError,
          property,
          params: { other: renamePath(fieldError.params.other, names) },
        } as FieldError)
      : { ...fieldError, property };
  });
  return error.kind === 'invalid'
    ? invalidInput(fieldErrors)
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
