/** Sessions, passwords, second factors and identity providers. */
export interface SignInTables {
  sessions: SessionTable;
  throttled_attempts: ThrottledAttemptTable;
  password_resets: { secret_hash: string; user_id: number; made_by: 'hand' | 'mail'; expires_at: number };
  totp_secrets: TotpSecretTable;
  recovery_codes: { user_id: number; code_hash: string; used_at: number | null };
  passkeys: PasskeyTable;
  /** Challenges whose answer was taken, until they would have ended anyway: no answer is good twice. */
  used_challenges: { challenge_hash: string; ends_at: number };
  identity_providers: IdentityProviderTable;
  identity_provider_domains: { domain: string; organization_id: number };
  identity_provider_groups: { organization_id: number; group_name: string; assessment_id: number };
  identities: IdentityTable;
}

/** A browser that someone signed in with. It ends by deletion. */
interface SessionTable {
  id: string;
  /** SHA-256 of the cookie, hexadecimal. */
  secret_hash: string;
  user_id: number;
  /** `pending` after the first of two factors: good for nothing but the second one. */
  state: 'pending' | 'complete';
  /** How the person proved who they are: `password`, `password+totp`, `passkey`, `sso`, … */
  method: string;
  created_at: number;
  expires_at: number;
  last_used_at: number;
  last_used_from: string;
  user_agent: string;
}

/** How often something was tried that may be tried only so often. */
interface ThrottledAttemptTable {
  /** What is tried and on whom, what people typed as a hash. */
  subject: string;
  /** Where from; empty for what is counted from everywhere. */
  address: string;
  /** JSON array of milliseconds since 1970, oldest first. */
  times: string;
  /** 0 when it is not. */
  locked_until: number;
  /** From when on the row means nothing. */
  ends_at: number;
}

interface TotpSecretTable {
  user_id: number;
  /** Base32, sealed. */
  sealed_secret: string;
  /** When the first code was right; before that there is no row. */
  confirmed_at: number;
  /** The time step of the last code that was accepted: no code is good twice (RFC 6238, section 5.2). */
  last_step: number;
}

interface PasskeyTable {
  /** The credential id, base64url. */
  id: string;
  user_id: number;
  /** COSE, base64url. */
  public_key: string;
  counter: number;
  /** JSON array. */
  transports: string;
  name: string;
  created_at: number;
  last_used_at: number | null;
  last_used_from: string | null;
}

/** The OpenID Connect provider that an organization named. */
interface IdentityProviderTable {
  organization_id: number;
  issuer: string;
  client_id: string;
  /** Sealed; `null` for a public client. */
  sealed_secret: string | null;
  /** The claim of the ID token that lists groups. */
  groups_claim: string;
  /** Who is in it is an admin of the organization; `null` leaves that to the organization. */
  admin_group: string | null;
  sso_only: number;
  created_at: number;
}

/** Who someone is at an organization's provider. */
interface IdentityTable {
  organization_id: number;
  issuer: string;
  subject: string;
  user_id: number;
  created_at: number;
}
