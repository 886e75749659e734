/** RFC 6749, sections 4.1.2.1 and 4.2.2.1. */
export type AuthorizationErrorCode =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'server_error'
  | 'temporarily_unavailable';

/** Why a request is not granted, for its client to read. */
export class AuthorizationError extends Error {
  override name = 'AuthorizationError';
  readonly code: AuthorizationErrorCode;

  /** @param description plain ASCII without quotes and backslashes */
  constructor(code: AuthorizationErrorCode, description: string, options?: ErrorOptions) {
    super(description, options);
    this.code = code;
  }
}

/** Where the parameters of a response stand: the code flow's in the query, the implicit flow's in the fragment. */
export type ResponseMode = 'query' | 'fragment';

/** Parameters of a response; absent ones are left out. */
export type ResponseParameters = Readonly<Record<string, string | undefined>>;

/**
 * @param redirectUri registered, so without a fragment; its query stays as it is (RFC 6749, section 3.1.2)
 * @returns the address that carries a response to a client (RFC 6749, sections 4.1.2 and 4.2.2)
 */
export function responseUrl(redirectUri: string, mode: ResponseMode, parameters: ResponseParameters): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  // A space as %20 is read alike by those who know forms and those who only know addresses.
  const text = new URLSearchParams(given).toString().replaceAll('+', '%20');
  const mark = mode === 'fragment' ? '#' : redirectUri.includes('?') ? '&' : '?';
  return redirectUri + mark + text;
}
