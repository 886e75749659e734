import type { TSchema } from 'typebox';

/**
 * Response header that names the ignored properties of a body without a known one, or the ignored query parameters of a
 * list.
 */
export const IGNORED_HEADER = 'Assay-Ignored';

/** RFC 9110, section 5.6.2: a token cannot break out of a header. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;
const PARAMETER = /^[!#$%&'*+\-.^_`|~0-9A-Za-z[\]]{1,64}$/;
const MAX_NAMES_LISTED = 10;

export const IgnoredPropertiesHeader = {
  type: 'string',
  description:
    'The ignored properties, if the operation knows none of the properties of the body. At most ten names; names that are longer than 64 characters or not a token of RFC 9110 are left out.',
  maxLength: 658,
};

/**
 * For operations whose body may be empty: a body with only unknown properties is accepted and changes nothing, so the
 * response names them, as they may be misspelt (docs/decided.md, section 3).
 * @returns a function from a body to the value of the header; `undefined` if the body has required properties
 */
export function createUnknownPropertyLister(schema: TSchema): ((body: object) => string) | undefined {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  const names = new Set(Object.keys(properties));
  if (names.size === 0 || required.length > 0) return undefined;
  return (body) => {
    const ignored: string[] = [];
    for (const name in body) {
      if (names.has(name)) return '';
      if (ignored.length < MAX_NAMES_LISTED && TOKEN.test(name)) ignored.push(name);
    }
    return ignored.join(', ');
  };
}

export const IgnoredParametersHeader = {
  type: 'string',
  description:
    'The query parameters that this list does not know and ignored. At most ten names of at most 64 characters.',
  maxLength: 658,
};

/** Names the query parameters that were ignored: a misspelt filter returns more rows than intended. */
export function listUnknownParameters(knownNames: ReadonlySet<string>, query: object): string {
  return Object.keys(query)
    .filter((name) => !knownNames.has(name) && PARAMETER.test(name))
    .slice(0, MAX_NAMES_LISTED)
    .join(', ');
}
