import type { SchemaDialect } from '../migration.ts';

/** Tokens, and the data of the authorization server. */
export const tokensTables = ({ int, text, tableOptions, clusteredOptions }: SchemaDialect): string[] => [
  // No foreign key to the client: tokens still name their client once it is deleted.
  `create table tokens (
    id ${text} primary key,
    kind ${text} not null check (kind in ('personal', 'jwt')),
    user_id ${int} not null references users (id) on delete cascade,
    secret_hash ${text} unique,
    scopes ${text} not null,
    allowed_addresses ${text},
    created_at ${int} not null,
    expires_at ${int},
    revoked_at ${int},
    last_used_at ${int},
    last_used_from ${text},
    client_id ${text},
    grant_id ${text},
    name ${text},
    prefix ${text},
    check ((secret_hash is null) = (kind = 'jwt')),
    check ((prefix is null) = (kind = 'jwt'))
  ) ${tableOptions}`,
  `create index tokens_by_user on tokens (user_id, created_at)`,

  `create table credential_versions (
    id ${int} primary key check (id = 1),
    credentials ${int} not null,
    signing_keys ${int} not null
  ) ${tableOptions}`,
  `insert into credential_versions (id, credentials, signing_keys) values (1, 0, 0)`,

  // Encrypted with the master key, which is not in the database: a copy of the database is not enough to sign tokens.
  `create table deployment_keys (
    id ${int} primary key check (id = 1),
    master_fingerprint ${text} not null,
    sealed_secret ${text} not null
  ) ${tableOptions}`,
  `create table signing_keys (
    kid ${text} primary key,
    number ${int} not null unique,
    created_at ${int} not null,
    sealed_key ${text} not null
  ) ${tableOptions}`,

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
  ) ${tableOptions}`,
  `create index oauth_clients_by_user on oauth_clients (user_id)`,
  // The API documentation is an OAuth client; its redirect URI is relative to the public URL.
  `insert into oauth_clients (id, name, kind, redirect_uris, implicit, created_at)
    values ('assay-docs', 'API documentation', 'public', '["/docs/oauth2-redirect.html"]', 1, 0)`,
  // The console signs in through OAuth only.
  `insert into oauth_clients (id, name, kind, redirect_uris, implicit, created_at)
    values ('assay-console', 'Console', 'public', '["/signed-in"]', 0, 0)`,
  // `assay login` listens on any free port (RFC 8252, section 7.3).
  `insert into oauth_clients (id, name, kind, redirect_uris, implicit, created_at)
    values ('assay-cli', 'Command line', 'public', '["http://127.0.0.1/callback"]', 0, 0)`,

  `create table oauth_consents (
    user_id ${int} not null references users (id) on delete cascade,
    client_id ${text} not null references oauth_clients (id) on delete cascade,
    scopes ${text} not null,
    created_at ${int} not null,
    primary key (user_id, client_id, scopes)
  ) ${clusteredOptions}`,
  `create index oauth_consents_by_client on oauth_consents (client_id)`,

  `create table authorization_codes (
    code_hash ${text} primary key,
    client_id ${text} not null references oauth_clients (id) on delete cascade,
    user_id ${int} not null references users (id) on delete cascade,
    grant_id ${text} not null,
    redirect_uri ${text},
    scopes ${text} not null,
    code_challenge ${text} not null,
    expires_at ${int} not null,
    used_at ${int}
  ) ${clusteredOptions}`,
  `create index authorization_codes_by_client on authorization_codes (client_id)`,
  `create index authorization_codes_by_user on authorization_codes (user_id)`,
  `create index authorization_codes_by_expiry on authorization_codes (expires_at)`,

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
  ) ${tableOptions}`,
  `create index refresh_tokens_by_grant on refresh_tokens (grant_id)`,
  `create index refresh_tokens_by_client on refresh_tokens (client_id)`,
  `create index refresh_tokens_by_user on refresh_tokens (user_id, client_id)`,
  `create index refresh_tokens_by_expiry on refresh_tokens (expires_at)`,
  `create index tokens_by_grant on tokens (grant_id) where grant_id is not null`,
  `create index tokens_by_client on tokens (client_id, user_id) where client_id is not null`,
  `create index tokens_by_expiry on tokens (kind, expires_at)`,
];
