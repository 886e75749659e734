/** RFC 6749, sections 4.1.2.1 and 4.2.2.1. */
export type AuthorizationErrorCode =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'server_error'
  | 'temporarily_unavailable';

export class AuthorizationError extends Error {
  override name = 'AuthorizationError';
  readonly code: AuthorizationErrorCode;

  /** @param description ASCII without quotes and backslashes */
  constructor(code: AuthorizationErrorCode, description: string, options?: ErrorOptions) {
    super(description, options);
    this.code = code;
  }
}

/** The code flow uses the query, the implicit flow the fragment. */
export type ResponseMode = 'query' | 'fragment';

/** The parameters of a response; `undefined` ones are left out. */
export type ResponseParameters = Readonly<Record<string, string | undefined>>;

/**
 * Returns the URL that carries a response to a client (RFC 6749, sections 4.1.2 and 4.2.2).
 * @param redirectUri registered, so without a fragment; its query is preserved (RFC 6749, section 3.1.2)
 */
export function responseUrl(redirectUri: string, mode: ResponseMode, parameters: ResponseParameters): string {
  const definedParameters = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  // Form and URL decoders read %20 alike, but not a plus sign.
  const text = new URLSearchParams(definedParameters).toString().replaceAll('+', '%20');
  const mark = mode === 'fragment' ? '#' : redirectUri.includes('?') ? '&' : '?';
  return redirectUri + mark + text;
}
