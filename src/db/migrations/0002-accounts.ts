import type { Migration } from './migration.ts';

/** Browser sessions, second factors, identity providers, and what the authorization server keeps. */
export const accounts: Migration = {
  name: '0002-accounts',
  statements: ({ int, text, table, clustered }) => [
    `alter table users add column invited_at ${int}`,
    `alter table organizations add column require_second_factor ${int} not null default 0 check (require_second_factor in (0, 1))`,

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
    ) ${table}`,
    `create index sessions_by_user on sessions (user_id, created_at)`,
    `create index sessions_by_expiry on sessions (expires_at)`,
    `create index sessions_by_use on sessions (last_used_at)`,

    // Tries at a password, and requests for mail, by the time of each.
    `create table attempts (
      subject ${text} not null,
      address ${text} not null,
      times ${text} not null,
      locked_until ${int} not null,
      ends_at ${int} not null,
      primary key (subject, address)
    ) ${clustered}`,
    `create index attempts_by_end on attempts (ends_at)`,

    // One a user, so that a new link replaces the one before.
    `create table password_resets (
      user_id ${int} primary key references users (id) on delete cascade,
      secret_hash ${text} not null unique,
      expires_at ${int} not null
    ) ${table}`,

    `create table totp_secrets (
      user_id ${int} primary key references users (id) on delete cascade,
      sealed_secret ${text} not null,
      confirmed_at ${int} not null,
      last_step ${int} not null
    ) ${table}`,

    `create table recovery_codes (
      user_id ${int} not null references users (id) on delete cascade,
      code_hash ${text} not null,
      used_at ${int},
      primary key (user_id, code_hash)
    ) ${clustered}`,

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
    ) ${table}`,
    `create index passkeys_by_user on passkeys (user_id, created_at)`,
    `create table used_passkey_challenges (
      challenge_hash ${text} primary key,
      ends_at ${int} not null
    ) ${clustered}`,
    `create index used_passkey_challenges_by_end on used_passkey_challenges (ends_at)`,

    `create table oauth_clients (
      id ${text} primary key,
      name ${text} not null,
      kind ${text} not null check (kind in ('public', 'confidential')),
      secret_hash ${text},
      redirect_uris ${text} not null,
      implicit ${int} not null check (implicit in (0, 1)),
      scopes ${text},
      user_id ${int} references users (id) on delete cascade,
      created_at ${int} not null,
      check ((secret_hash is null) = (kind = 'public'))
    ) ${table}`,
    `create index oauth_clients_by_user on oauth_clients (user_id)`,
    // The API description is a client like any other; its address is relative to the deployment's own.
    `insert into oauth_clients (id, name, kind, redirect_uris, implicit, created_at)
      values ('assay-docs', 'API documentation', 'public', '["/docs/oauth2-redirect.html"]', 1, 0)`,

    `create table oauth_consents (
      user_id ${int} not null references users (id) on delete cascade,
      client_id ${text} not null references oauth_clients (id) on delete cascade,
      scopes ${text} not null,
      created_at ${int} not null,
      primary key (user_id, client_id, scopes)
    ) ${clustered}`,
    `create index oauth_consents_by_client on oauth_consents (client_id)`,

    `create table oauth_codes (
      code_hash ${text} primary key,
      client_id ${text} not null references oauth_clients (id) on delete cascade,
      user_id ${int} not null references users (id) on delete cascade,
      grant_id ${text} not null,
      redirect_uri ${text},
      scopes ${text} not null,
      code_challenge ${text} not null,
      expires_at ${int} not null,
      used_at ${int}
    ) ${clustered}`,
    `create index oauth_codes_by_client on oauth_codes (client_id)`,
    `create index oauth_codes_by_user on oauth_codes (user_id)`,
    `create index oauth_codes_by_expiry on oauth_codes (expires_at)`,

    `create table refresh_tokens (
      id ${text} primary key,
      secret_hash ${text} not null unique,
      client_id ${text} not null references oauth_clients (id) on delete cascade,
      user_id ${int} not null references users (id) on delete cascade,
      grant_id ${text} not null,
      scopes ${text} not null,
      created_at ${int} not null,
      expires_at ${int} not null,
      grant_expires_at ${int} not null,
      used_at ${int},
      revoked_at ${int}
    ) ${table}`,
    `create index refresh_tokens_by_grant on refresh_tokens (grant_id)`,
    `create index refresh_tokens_by_client on refresh_tokens (client_id)`,
    `create index refresh_tokens_by_user on refresh_tokens (user_id, client_id)`,
    `create index refresh_tokens_by_expiry on refresh_tokens (expires_at)`,

    // No foreign key to the client: what a token was for stays known once the client is deleted.
    `alter table tokens add column client_id ${text}`,
    `alter table tokens add column grant_id ${text}`,
    `alter table tokens add column name ${text}`,
    `create index tokens_by_grant on tokens (grant_id) where grant_id is not null`,
    `create index tokens_by_client on tokens (client_id, user_id) where client_id is not null`,
    `create index tokens_by_expiry on tokens (kind, expires_at)`,

    `create table identity_providers (
      organization_id ${int} primary key references organizations (id) on delete cascade,
      issuer ${text} not null,
      client_id ${text} not null,
      sealed_secret ${text},
      groups_claim ${text} not null,
      admin_group ${text},
      sso_only ${int} not null check (sso_only in (0, 1)),
      created_at ${int} not null
    ) ${table}`,
    `create table identity_provider_domains (
      domain ${text} primary key,
      organization_id ${int} not null references identity_providers (organization_id) on delete cascade
    ) ${clustered}`,
    `create index identity_provider_domains_by_organization on identity_provider_domains (organization_id)`,
    `create table identity_provider_groups (
      organization_id ${int} not null references identity_providers (organization_id) on delete cascade,
      group_name ${text} not null,
      assessment_id ${int} not null references assessments (id) on delete cascade,
      primary key (organization_id, group_name, assessment_id)
    ) ${clustered}`,
    `create index identity_provider_groups_by_assessment on identity_provider_groups (assessment_id)`,

    // The subject is unique within its issuer only, and the issuer is trusted for its own organization only.
    `create table identities (
      organization_id ${int} not null references organizations (id) on delete cascade,
      issuer ${text} not null,
      subject ${text} not null,
      user_id ${int} not null references users (id) on delete cascade,
      created_at ${int} not null,
      primary key (organization_id, issuer, subject)
    ) ${clustered}`,
    // An account is one person at an issuer, also when two who have its address sign in at once.
    `create unique index identities_by_user on identities (user_id, issuer)`,
  ],
};
