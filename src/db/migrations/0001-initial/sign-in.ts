import type { SchemaDialect } from '../migration.ts';

/** Sessions, passwords, second factors and identity providers. */
export const signInTables = ({ int, text, tableOptions, clusteredOptions }: SchemaDialect): string[] => [
  `create table sessions (
    id ${text} primary key,
    secret_hash ${text} not null unique,
    user_id ${int} not null references users (id) on delete cascade,
    state ${text} not null check (state in ('pending', 'complete')),
    method ${text} not null,
    created_at ${int} not null,
    expires_at ${int} not null,
    last_used_at ${int} not null,
    last_used_from ${text} not null,
    user_agent ${text} not null
  ) ${tableOptions}`,
  `create index sessions_by_user on sessions (user_id, created_at)`,
  `create index sessions_by_expiry on sessions (expires_at)`,
  `create index sessions_by_use on sessions (last_used_at)`,

  // Attempts to sign in and requests for mail, with their times.
  `create table throttled_attempts (
    subject ${text} not null,
    address ${text} not null,
    times ${text} not null,
    locked_until ${int} not null,
    ends_at ${int} not null,
    primary key (subject, address)
  ) ${clusteredOptions}`,
  `create index throttled_attempts_by_end on throttled_attempts (ends_at)`,
  `create index throttled_attempts_by_address on throttled_attempts (address)`,

  // Links that an admin or operator created, and links sent by mail: a new link of one kind does not end those of the
  // other.
  `create table password_resets (
    secret_hash ${text} primary key,
    user_id ${int} not null references users (id) on delete cascade,
    made_by ${text} not null check (made_by in ('hand', 'mail')),
    expires_at ${int} not null
  ) ${clusteredOptions}`,
  `create index password_resets_by_user on password_resets (user_id, made_by, expires_at)`,
  `create index password_resets_by_expiry on password_resets (expires_at)`,

  `create table totp_secrets (
    user_id ${int} primary key references users (id) on delete cascade,
    sealed_secret ${text} not null,
    confirmed_at ${int} not null,
    last_step ${int} not null
  ) ${tableOptions}`,

  `create table recovery_codes (
    user_id ${int} not null references users (id) on delete cascade,
    code_hash ${text} not null,
    used_at ${int},
    primary key (user_id, code_hash)
  ) ${clusteredOptions}`,

  `create table passkeys (
    id ${text} primary key,
    user_id ${int} not null references users (id) on delete cascade,
    public_key ${text} not null,
    counter ${int} not null,
    transports ${text} not null,
    name ${text} not null,
    created_at ${int} not null,
    last_used_at ${int},
    last_used_from ${text}
  ) ${tableOptions}`,
  `create index passkeys_by_user on passkeys (user_id, created_at)`,

  `create table used_challenges (
    challenge_hash ${text} primary key,
    ends_at ${int} not null
  ) ${clusteredOptions}`,
  `create index used_challenges_by_end on used_challenges (ends_at)`,

  `create table identity_providers (
    organization_id ${int} primary key references organizations (id) on delete cascade,
    issuer ${text} not null,
    client_id ${text} not null,
    sealed_secret ${text},
    groups_claim ${text} not null,
    admin_group ${text},
    sso_only ${int} not null check (sso_only in (0, 1)),
    created_at ${int} not null
  ) ${tableOptions}`,

  `create table identity_provider_domains (
    domain ${text} primary key,
    organization_id ${int} not null references identity_providers (organization_id) on delete cascade
  ) ${clusteredOptions}`,
  `create index identity_provider_domains_by_organization on identity_provider_domains (organization_id)`,

  `create table identity_provider_groups (
    organization_id ${int} not null references identity_providers (organization_id) on delete cascade,
    group_name ${text} not null,
    assessment_id ${int} not null,
    primary key (organization_id, group_name, assessment_id),
    foreign key (organization_id, assessment_id) references assessments (organization_id, id) on delete cascade
  ) ${clusteredOptions}`,
  `create index identity_provider_groups_by_assessment on identity_provider_groups (assessment_id)`,

  // A subject is unique within its issuer, and an issuer is trusted for its own organization only.
  `create table identities (
    organization_id ${int} not null,
    issuer ${text} not null,
    subject ${text} not null,
    user_id ${int} not null,
    created_at ${int} not null,
    primary key (organization_id, issuer, subject),
    foreign key (organization_id, user_id) references users (organization_id, id) on delete cascade
  ) ${clusteredOptions}`,
  // An account has at most one subject per issuer, even if two with its address sign in at once.
  `create unique index identities_by_user on identities (user_id, issuer)`,
];
