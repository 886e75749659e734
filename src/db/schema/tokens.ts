/** Tokens, and what the authorization server keeps. */
export interface TokensTables {
  tokens: TokenTable;
  /**
   * One row: how often a user or a token has changed so that a credential may have ended, and how often the signing keys
   * have.
   */
  credential_versions: { id: number; credentials: number; signing_keys: number };
  /** One row, or none before the first start: the secret that all instances share, and the master key's fingerprint. */
  deployment_keys: { id: number; master_fingerprint: string; sealed_secret: string };
  /** The key with the highest number signs. */
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
  /** SHA-256 of a personal access token, hexadecimal; `null` for a JWT, which carries its own proof. */
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
  /** The application that it was issued to; `null` for one that a person or the command line made. */
  client_id: string | null;
  /** What one approval gave: a code, its access tokens and its refresh tokens share it, and end together. */
  grant_id: string | null;
  /** What its owner calls a personal access token. */
  name: string | null;
  /** How a personal access token begins; `null` for a JWT. */
  prefix: string | null;
}

interface OAuthClientTable {
  id: string;
  name: string;
  kind: 'public' | 'confidential';
  /** SHA-256, hexadecimal; `null` for a public client. */
  secret_hash: string | null;
  /** JSON array. One that begins with a slash is relative to this deployment. */
  redirect_uris: string;
  /** Whether it may use the implicit flow. */
  implicit: number;
  /** The most that it can be given, separated by spaces; `null` for whatever its users may hold. */
  scopes: string | null;
  /** The account that it acts as with client credentials; `null` forbids that grant. */
  user_id: number | null;
  created_at: number;
}

interface AuthorizationCodeTable {
  /** SHA-256, hexadecimal. */
  code_hash: string;
  client_id: string;
  user_id: number;
  grant_id: string;
  /** As the request had it; `null` when it had none. */
  redirect_uri: string | null;
  scopes: string;
  /** S256 (RFC 7636). */
  code_challenge: string;
  expires_at: number;
  used_at: number | null;
}

interface RefreshTokenTable {
  id: string;
  /** SHA-256, hexadecimal. */
  secret_hash: string;
  client_id: string;
  user_id: number;
  grant_id: string;
  scopes: string;
  created_at: number;
  /** Each rotation begins this anew, up to the end of the grant. */
  expires_at: number;
  /** The same for every refresh token of a grant. */
  grant_expires_at: number;
  /** When it was exchanged for the next one; to see it again means that it was stolen. */
  used_at: number | null;
  revoked_at: number | null;
}
