/** Tokens, and the data of the authorization server. */
export interface TokensTables {
  tokens: TokenTable;
  /**
   * One row. `credentials` is incremented by every change of a user or token that may end a credential, `signing_keys`
   * by every change of the signing keys.
   */
  credential_versions: { id: number; credentials: number; signing_keys: number };
  /**
   * At most one row, inserted at the first start: the secret shared by all instances, and the fingerprint of the master
   * key.
   */
  deployment_keys: { id: number; master_fingerprint: string; sealed_secret: string };
  /** The key with the highest number signs tokens. */
  signing_keys: { kid: string; number: number; created_at: number; sealed_key: string };
  oauth_clients: OAuthClientTable;
  oauth_consents: { user_id: number; client_id: string; scopes: string; created_at: number };
  authorization_codes: AuthorizationCodeTable;
  refresh_tokens: RefreshTokenTable;
}

interface TokenTable {
  /** The `jti` of a JWT access token. */
  id: string;
  kind: 'personal' | 'jwt';
  user_id: number;
  /** SHA-256 of a personal access token, in hexadecimal; `null` for a JWT, which is verified by its signature. */
  secret_hash: string | null;
  /** Space-separated. */
  scopes: string;
  /** JSON array of CIDR blocks; `null` allows every address. */
  allowed_addresses: string | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  last_used_from: string | null;
  /** The application that the token was issued to; `null` if a person or the command line created it. */
  client_id: string | null;
  /** Shared by the code, access tokens and refresh tokens of one approval; they are revoked together. */
  grant_id: string | null;
  /** The name of a personal access token. */
  name: string | null;
  /** The first characters of a personal access token; `null` for a JWT. */
  prefix: string | null;
  /** The id of the token that it was created with and ends with; `null` for a page and the command line. */
  made_by: string | null;
  /** The application that this token was issued to, which is named after the token has been deleted. */
  made_by_client: string | null;
}

interface OAuthClientTable {
  id: string;
  name: string;
  kind: 'public' | 'confidential';
  /** SHA-256, in hexadecimal; `null` for a public client. */
  secret_hash: string | null;
  /** JSON array. A URI that begins with a slash is relative to the public URL. */
  redirect_uris: string;
  /** Whether the client may use the implicit flow. */
  implicit: number;
  /** JSON array of the scopes that it is limited to; `null` for those of its users. */
  scopes: string | null;
  /** The account for the client credentials grant; `null` forbids that grant. */
  user_id: number | null;
  created_at: number;
}

interface AuthorizationCodeTable {
  /** SHA-256, in hexadecimal. */
  code_hash: string;
  client_id: string;
  user_id: number;
  grant_id: string;
  /** As in the request; `null` if the request had none. */
  redirect_uri: string | null;
  scopes: string;
  /** S256 challenge (RFC 7636). */
  code_challenge: string;
  expires_at: number;
  used_at: number | null;
}

interface RefreshTokenTable {
  id: string;
  /** SHA-256, in hexadecimal. */
  secret_hash: string;
  client_id: string;
  user_id: number;
  grant_id: string;
  scopes: string;
  created_at: number;
  /** Extended by each rotation, at most to `grant_expires_at`. */
  expires_at: number;
  /** The same for all refresh tokens of a grant. */
  grant_expires_at: number;
  /** When it was exchanged for the next one. Using it again indicates theft. */
  used_at: number | null;
  revoked_at: number | null;
}
