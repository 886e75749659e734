import type { Generated } from 'kysely';

/**
 * The tables, as both engines store them: times are integer milliseconds since 1970, truth is 0 or 1, JSON is text.
 * A `*_key` column is the normalised form that names are compared by (see `nameKey`).
 */
export interface Tables {
  organizations: OrganizationTable;
  organization_group_members: { group_id: number; organization_id: number };
  users: UserTable;
  /** Addresses whose invited users were deleted by a ban, so that no provider brings them back. */
  banned_addresses: { organization_id: number; email_key: string; banned_at: number };
  staff_organizations: { user_id: number; organization_id: number };
  tokens: TokenTable;
  /**
   * One row: how often a user or a token has changed so that a credential may have ended, and how often the signing keys
   * have.
   */
  credential_changes: { id: number; changes: number; key_changes: number };
  /** One row, or none before the first start: the secret that all instances share, and the master key's fingerprint. */
  deployment_keys: { id: number; master_fingerprint: string; sealed_secret: string };
  /** The key with the highest number signs. */
  signing_keys: { kid: string; number: number; created_at: number; sealed_key: string };
  assessment_groups: { id: Generated<number>; organization_id: number; name: string; created_at: number };
  group_members: GroupMemberTable;
  group_member_counts: { group_id: number; role: string; members: number };
  assessments: AssessmentTable;
  assessment_access: { organization_id: number; assessment_id: number; user_id: number };
  assessment_tags: { id: Generated<number>; organization_id: number; name: string; name_key: string };
  assessment_taggings: { organization_id: number; assessment_id: number; tag_id: number };
  testing_sessions: TestingSessionTable;
  vulnerabilities: VulnerabilityTable;
  vulnerability_tags: VulnerabilityTagTable;
  vulnerability_taggings: { organization_id: number; vulnerability_id: number; tag_id: number };
  attachments: AttachmentTable;
  assets: AssetTable;
  asset_tags: AssetTagTable;
  asset_taggings: AssetTaggingTable;
  /** `scope_rules` is a JSON list of texts. */
  listing_assets: {
    organization_id: number;
    assessment_id: number;
    asset_id: number;
    scope_rules: Generated<string>;
  };
  ports: PortTable;
  port_counts: { asset_id: number; observed_state: string; ports: number };
  events: EventTable;
  /** How many rows the refusals of a minute since 1970 have. */
  refusal_minutes: { minute: number; events: number };
  jobs: JobTable;
  job_kinds: { kind: string };
  sessions: SessionTable;
  attempts: AttemptTable;
  password_resets: { secret_hash: string; user_id: number; made_by: 'hand' | 'mail'; expires_at: number };
  totp_secrets: TotpSecretTable;
  recovery_codes: { user_id: number; code_hash: string; used_at: number | null };
  passkeys: PasskeyTable;
  /** Challenges whose answer was taken, until they would have ended anyway: no answer is good twice. */
  used_challenges: { challenge_hash: string; ends_at: number };
  oauth_clients: OAuthClientTable;
  oauth_consents: { user_id: number; client_id: string; scopes: string; created_at: number };
  oauth_codes: OAuthCodeTable;
  refresh_tokens: RefreshTokenTable;
  identity_providers: IdentityProviderTable;
  identity_provider_domains: { domain: string; organization_id: number };
  identity_provider_groups: { organization_id: number; group_name: string; assessment_id: number };
  identities: IdentityTable;
}

/** An organization, or a group of them: both own tags under a uid of the same form. */
export interface OrganizationTable {
  id: Generated<number>;
  uid: string;
  kind: 'organization' | 'group';
  name: string;
  created_at: number;
  /** Whether its users must have a second factor to sign in. */
  require_second_factor: Generated<number>;
}

export interface UserTable {
  id: Generated<number>;
  uid: string;
  email: string;
  email_key: string;
  name: string | null;
  /** What the name is searched by. */
  name_key: string | null;
  /** `null` for platform staff. */
  organization_id: number | null;
  admin: number;
  staff: number;
  password_hash: string | null;
  /** `null` until the invitation is accepted, which is the first sign-in. A token changes nothing of that. */
  accepted_at: number | null;
  banned_at: number | null;
  created_at: number;
  /** When the invitation that is open was made; `null` is `created_at`. */
  invited_at: number | null;
  /** When a browser in which they signed in was used; tokens have times of their own. */
  last_seen_at: number | null;
}

export interface TokenTable {
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
}

export interface GroupMemberTable {
  id: Generated<number>;
  organization_id: number;
  group_id: number;
  user_id: number;
  /** The user's own, by which a list can be sorted. */
  user_uid: string;
  role: string;
  created_at: number;
}

export interface AssessmentTable {
  id: Generated<number>;
  uid: string;
  organization_id: number;
  group_id: number | null;
  name: string;
  created_at: number;
}

export interface TestingSessionTable {
  id: Generated<number>;
  assessment_id: number;
  tester_id: number;
  started_at: number;
  /** `null` while it runs. */
  ended_at: number | null;
}

export interface VulnerabilityTable {
  id: Generated<number>;
  organization_id: number;
  assessment_id: number;
  title: string;
  description: string;
  severity: string;
  status_id: number;
  cvss_score: number | null;
  created_at: number;
  updated_at: number;
}

export interface VulnerabilityTagTable {
  id: Generated<number>;
  organization_id: number;
  name: string;
  name_key: string;
  editable: number;
}

export interface AttachmentTable {
  id: Generated<number>;
  vulnerability_id: number;
  filename: string;
  content_type: string;
  file_size: number;
  created_at: number;
}

export interface AssetTable {
  id: Generated<number>;
  uid: string;
  organization_id: number;
  type: string;
  name: string;
  /** The network address of a host, by which a scan finds it again; `null` otherwise. */
  address: string | null;
  criticality: string;
  writable_by: string;
  created_at: number;
  updated_at: number;
}

export interface AssetTagTable {
  id: Generated<number>;
  uid: string;
  organization_id: number;
  name: string;
  name_key: string;
}

export interface AssetTaggingTable {
  tag_id: number;
  asset_id: number;
  /** The asset's. */
  organization_id: number;
  /** The tag's: the same organization, or `group_id`. */
  owner_id: number;
  /** A group of organizations that the asset's is in; `null` for a tag of its own. */
  group_id: number | null;
}

export interface PortTable {
  asset_id: number;
  protocol: string;
  number: number;
  observed_state: string;
  service_name: string | null;
  service_banner: string | null;
  product_name: string | null;
  product_version: string | null;
  cpe: string | null;
  first_seen: number;
  last_seen: number;
}

/** What was changed or refused. Of refusals that share a row, what differs is `null`. */
export interface EventTable {
  id: Generated<number>;
  at: number;
  action: string;
  object_type: string;
  object_id: string | null;
  organization_id: number | null;
  actor_kind: string;
  /** Whose account it was; `null` where no account did it. */
  user_id: number | null;
  /** The session, the token, or the application that spoke for the user. */
  credential_id: string | null;
  /** Of refusals, the network. */
  address: string | null;
  request_id: string | null;
  /** JSON. */
  before: string | null;
  after: string | null;
  /** How many refusals it stands for. */
  count: Generated<number>;
  /** The minute, the action and the network that refusals share a row by; `null` for a change. */
  refusal: string | null;
}

/** A browser that someone signed in with. It ends by deletion. */
export interface SessionTable {
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
export interface AttemptTable {
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

export interface TotpSecretTable {
  user_id: number;
  /** Base32, sealed. */
  sealed_secret: string;
  /** When the first code was right; before that there is no row. */
  confirmed_at: number;
  /** The time step of the last code that was accepted: no code is good twice (RFC 6238, section 5.2). */
  last_step: number;
}

export interface PasskeyTable {
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

export interface OAuthClientTable {
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

export interface OAuthCodeTable {
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

export interface RefreshTokenTable {
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

/** The OpenID Connect provider that an organization named. */
export interface IdentityProviderTable {
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
export interface IdentityTable {
  organization_id: number;
  issuer: string;
  subject: string;
  user_id: number;
  created_at: number;
}

export interface JobTable {
  id: Generated<number>;
  kind: string;
  /** Of its kind there is one alone; `null` where there may be many. */
  key: string | null;
  /** Who may only have so many waiting; `null` where that is not bounded. */
  origin: string | null;
  payload: string;
  /** How often it was taken. */
  attempts: number;
  /** When it may be taken, or, while somebody has it, taken away from them. */
  due_at: number;
  /** Who has it; `null` for nobody. */
  holder: string | null;
  created_at: number;
}
