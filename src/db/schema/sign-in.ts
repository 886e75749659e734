/** Sessions, passwords, second factors and identity providers. */
export interface SignInTables {
  sessions: SessionTable;
  throttled_attempts: ThrottledAttemptTable;
  password_resets: { secret_hash: string; user_id: number; made_by: 'hand' | 'mail'; expires_at: number };
  totp_secrets: TotpSecretTable;
  recovery_codes: { user_id: number; code_hash: string; used_at: number | null };
  passkeys: PasskeyTable;
  /** Challenges that were answered, until they expire: each can be answered once. */
  used_challenges: { challenge_hash: string; ends_at: number };
  identity_providers: IdentityProviderTable;
  identity_provider_domains: { domain: string; organization_id: number };
  identity_provider_groups: { organization_id: number; group_name: string; assessment_id: number };
  identities: IdentityTable;
}

/** The session of a signed-in browser. Deleted when it ends. */
interface SessionTable {
  id: string;
  /** SHA-256 of the cookie, in hexadecimal. */
  secret_hash: string;
  user_id: number;
  /** `pending` after the first of two factors; allows nothing but the second. */
  state: 'pending' | 'complete';
  /** How the user authenticated: `password`, `password+totp`, `passkey`, `sso`, … */
  method: string;
  created_at: number;
  expires_at: number;
  last_used_at: number;
  last_used_from: string;
  user_agent: string;
}

/** Recent attempts at an action that is rate-limited. */
interface ThrottledAttemptTable {
  /** The action and its target; values that a person entered are hashed. */
  subject: string;
  /** The client's address; empty if attempts from all addresses count together. */
  address: string;
  /** JSON array of milliseconds since 1970, oldest first. */
  times: string;
  /** 0 if not locked. */
  locked_until: number;
  /** When the row can be deleted. */
  ends_at: number;
}

interface TotpSecretTable {
  user_id: number;
  /** Base32, encrypted. */
  sealed_secret: string;
  /** When the first code was accepted. The row is inserted then. */
  confirmed_at: number;
  /** The time step of the last accepted code: each code can be used once (RFC 6238, section 5.2). */
  last_step: number;
}

interface PasskeyTable {
  /** Credential ID, base64url. */
  id: string;
  user_id: number;
  /** COSE key, base64url. */
  public_key: string;
  counter: number;
  /** JSON array. */
  transports: string;
  name: string;
  created_at: number;
  last_used_at: number | null;
  last_used_from: string | null;
}

/** The OpenID Connect provider of an organization. */
interface IdentityProviderTable {
  organization_id: number;
  issuer: string;
  client_id: string;
  /** Encrypted; `null` for a public client. */
  sealed_secret: string | null;
  /** The claim in the ID token that lists the groups. */
  groups_claim: string;
  /** Members of this group are admins of the organization; `null` if admins are managed in Assay. */
  admin_group: string | null;
  sso_only: number;
  created_at: number;
  /** 1 if addresses count as verified when the provider does not say whether they are. */
  trust_email: number;
}

/** Links an account to a subject of the organization's provider. */
interface IdentityTable {
  organization_id: number;
  issuer: string;
  subject: string;
  user_id: number;
  created_at: number;
}
