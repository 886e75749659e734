/** One thing that is wrong with the input. */
export interface FieldError {
  /** Dotted path from the root of the input: `tags.3.name`. */
  property: string;
  message: string;
  /** The offending value; absent for a missing or a secret one. */
  value?: unknown;
  /** Another input of the rule that the message names. */
  other?: string;
}

/**
 * - `missing`: it does not exist, or the caller does not reach it, which must look the same
 * - `forbidden`: it is there, and the caller's role or its own state does not allow the change
 * - `invalid`: the input has the right form and a wrong value; `faults` says where
 * - `conflict`: it clashes with what exists
 * - `changed`: it is not of the version that was expected
 * - `oversized`: it would change more things than are changed at once; `batch` says how many
 */
export type DomainErrorKind = 'missing' | 'forbidden' | 'invalid' | 'conflict' | 'changed' | 'oversized';

/** How many things are changed at once at most, and how many it would be. */
export interface SizeLimit {
  max: number;
  size: number;
}

/** What a rule of the domain refuses. The faces turn it into their own error body. */
export class DomainError extends Error {
  override name = 'DomainError';
  readonly kind: DomainErrorKind;
  readonly fieldErrors: readonly FieldError[];
  readonly sizeLimit: SizeLimit | undefined;

  constructor(kind: DomainErrorKind, message: string, faults: readonly FieldError[] = [], batch?: SizeLimit) {
    super(message);
    this.kind = kind;
    this.fieldErrors = faults;
    this.sizeLimit = batch;
  }
}

/**
 * For a face whose inputs have other names than the rule's.
 * @param names from the rule's input to the face's; what is not among them keeps its name. A star stands for an index,
 *   on both sides, and an input may have more behind it.
 * @returns the failure with the face's names, in its message as well where that is made of the faults
 */
export function renameFields(failure: DomainError, names: Readonly<Record<string, string>>): DomainError {
  const faults = failure.fieldErrors.map(({ other, message, ...fault }) => ({
    ...fault,
    property: renamePath(fault.property, names),
    message: other === undefined ? message : message.replace(other, () => renamePath(other, names)),
  }));
  return failure.kind === 'invalid'
    ? invalidInput(faults)
    : new DomainError(failure.kind, failure.message, faults, failure.sizeLimit);
}

function renamePath(property: string, names: Readonly<Record<string, string>>): string {
  const path = property.split('.');
  for (const [from, to] of Object.entries(names)) {
    const parts = from.split('.');
    if (
      !parts.every((part, place) => part === path[place] || (part === '*' && /^\d+$/.test(path[place] ?? '')))
    )
      continue;
    const indexes = path.filter((_part, place) => parts[place] === '*');
    return [
      ...to.split('.').map((part) => (part === '*' ? indexes.shift() : part)),
      ...path.slice(parts.length),
    ].join('.');
  }
  return property;
}

/** @returns a failure of kind `missing` that names the thing and not the reason */
export function notFound(thing: string): DomainError {
  return new DomainError('missing', `The ${thing} does not exist, or you cannot reach it.`);
}

/** @returns a failure of kind `invalid` that lists where the input is wrong */
export function invalidInput(wrong: FieldError | readonly FieldError[]): DomainError {
  const faults = 'property' in wrong ? [wrong] : wrong;
  return new DomainError('invalid', summarizeFieldErrors(faults, 'It'), faults);
}

/**
 * @param whole what to call the input where a fault is of all of it
 * @returns one sentence for people: the first few faults, and how many more there are
 */
export function summarizeFieldErrors(faults: readonly FieldError[], whole: string): string {
  const told = faults.slice(0, 3).map(({ property, message }) => `${property || whole} ${message}`);
  const more = faults.length - told.length;
  return `${told.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
}
