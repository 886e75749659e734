import type { TSchema } from 'typebox';

/** Names what of a body was ignored, where nothing in it was known. */
export const IGNORED_HEADER = 'Assay-Ignored';

/** RFC 9110, section 5.6.2: no other name can break out of a header, and none is longer than people write. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;
const PARAMETER = /^[!#$%&'*+\-.^_`|~0-9A-Za-z[\]]{1,64}$/;
const MAX_NAMES_LISTED = 10;

export const IgnoredPropertiesHeader = {
  type: 'string',
  description:
    'The properties of the body that were ignored, when it had none that this operation knows: at most ten, and none that is longer than 64 characters or no token of RFC 9110.',
  maxLength: 658,
};

/**
 * For an operation whose body may be empty: one that has only properties that it does not know is accepted and changes
 * nothing, which whoever misspelt them should be told (docs/decided.md, section 3).
 * @param schema of a body
 * @returns a function from a body to what the header says, or nothing; absent for a body that has to have something
 */
export function createUnknownPropertyLister(schema: TSchema): ((body: object) => string) | undefined {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  const known = new Set(Object.keys(properties));
  if (known.size === 0 || required.length > 0) return undefined;
  return (body) => {
    const ignored: string[] = [];
    for (const name in body) {
      if (known.has(name)) return '';
      if (ignored.length < MAX_NAMES_LISTED && TOKEN.test(name)) ignored.push(name);
    }
    return ignored.join(', ');
  };
}

export const IgnoredParametersHeader = {
  type: 'string',
  description:
    'The parameters of the query that this list does not know, and ignored: at most ten, none longer than 64 characters.',
  maxLength: 658,
};

/** @returns what the header says of a query: a filter that is misspelt is ignored, and the list holds more than was meant */
export function listUnknownParameters(known: ReadonlySet<string>, query: object): string {
  return Object.keys(query)
    .filter((name) => !known.has(name) && PARAMETER.test(name))
    .slice(0, MAX_NAMES_LISTED)
    .join(', ');
}
