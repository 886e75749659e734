import type { KeyObject } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type AttachmentStoreConfig, parseAttachmentStore } from './attachment-store.ts';
import type { ExternalIssuerSettings } from '../auth/external-issuer.ts';
import type { IssuerIdentity } from '../auth/keys.ts';
import { parseExternalIssuer } from './external-issuer.ts';
import {
  ConfigError,
  parseAddressBlocks,
  parseBoolean,
  parseChoice,
  parseDatabaseUrl,
  parseInteger,
  parseList,
  parseMasterKeySetting,
  parseSmtpUrl,
  parseUrl,
} from './parsers.ts';

/** Parts of the API. A process serves all or some of them. */
export const AREA_NAMES = ['v1', 'tagging', 'assessment', 'asset', 'streaming'] as const;
export type AreaName = (typeof AREA_NAMES)[number];

/** The settings of a deployment. Times are milliseconds, sizes bytes. */
export interface Config {
  /** Holds the demo manifest, the master key unless `masterKey` is set, and the database on SQLite. */
  dataDirectory: string;
  /** `postgres://…`; absent means SQLite in the data folder. */
  databaseUrl: string | undefined;
  /** Encrypts the keys in the database; `undefined` means the key in the data folder. */
  masterKey: KeyObject | undefined;
  /** The previous master key, for `assay keys reseal`; `undefined` means the key in the data folder. */
  oldMasterKey: KeyObject | undefined;
  host: string;
  /** 0 picks a free port. */
  port: number;
  areas: readonly AreaName[];
  deployment: 'commercial' | 'fedramp';
  /** The addresses of the specification; `undefined` means the address that the server listens on. */
  baseUrl: string | undefined;
  baseUrlFedramp: string | undefined;
  clientBaseUrl: string | undefined;
  authUrl: string | undefined;
  errorTypeBase: string | undefined;
  /**
   * `iss` and `aud` of access tokens, by default `clientBaseUrl`; `undefined` if neither is set, which means the
   * address that the server listens on.
   */
  issuer: string | undefined;
  /** An external issuer whose access tokens are accepted as well; `undefined` for none. */
  externalIssuer: ExternalIssuerSettings | undefined;
  accessTokenLifetime: number;
  /** Lifetime of an unused refresh token. */
  refreshTokenLifetime: number;
  /** Maximum lifetime of a grant, however often its refresh tokens are used. */
  grantLifetime: number;
  /** Whether clients may use the implicit flow; each client must enable it as well. */
  implicitFlow: boolean;
  /** Maximum time without use, and maximum lifetime, of a browser session. */
  sessionIdle: number;
  sessionLifetime: number;
  invitationLifetime: number;
  /** Whether platform staff need a second factor; `undefined` means that they do, except with demo data. */
  staffSecondFactor: 'required' | 'optional' | undefined;
  /** Days after which changes leave the audit log; `null` for never. */
  auditDays: number | null;
  /** `smtp://…` or `smtps://…`; absent means that no mail is sent. */
  smtpUrl: string | undefined;
  mailFrom: string;
  /** Requests per minute for a user, or for an address without a valid credential; 0 for no limit. */
  rateLimit: number;
  /** Open connections of an address that is not a trusted proxy. */
  maxConnectionsPerAddress: number;
  /** Whether operations 8 and 9 require a scope that writes; otherwise they also accept read-only scopes. */
  strictScopes: boolean;
  /** Maximum batch size of operations 8 and 9. */
  maxTagBatch: number;
  /** Maximum number of pairs of a tag and an entity in a request of operations 8 and 9. */
  maxTagPairs: number;
  /** Maximum batch size of operations 10 and 11. */
  maxAssetBatch: number;
  /** Maximum body of operations 8 to 11, and upper limit of the smaller limits of other operations. */
  bodyLimit: number;
  requestTimeout: number;
  /** Time in which each MiB of an upload has to arrive. */
  uploadTimeout: number;
  /** `undefined` means a folder in the data folder on SQLite, the database on PostgreSQL. */
  attachments: AttachmentStoreConfig | undefined;
  maxAttachmentSize: number;
  /** Per vulnerability. */
  maxAttachments: number;
  /** Maximum size of a report, as uploaded. */
  maxImportSize: number;
  /** Memory limit of all concurrent requests, in MiB. */
  requestMemory: number;
  /** Limit of the heap of an import's process, in MiB. */
  importMemory: number;
  /** Addresses and CIDR blocks of proxies whose `X-Forwarded-*` headers are trusted. */
  trustedProxies: readonly string[];
  /** Addresses and CIDR blocks that may read `/metrics`. */
  metricsAllowed: readonly string[];
  logLevel: LogLevel;
  /** Whether `serve` loads demo data into an empty database. */
  demo: boolean;
}

const DAY_SECONDS = 86_400;
const YEAR_SECONDS = 365 * DAY_SECONDS;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Command line flags, which override the environment. */
export interface Flags {
  data?: string | undefined;
  port?: string | undefined;
  host?: string | undefined;
  areas?: string | undefined;
  demo?: boolean | undefined;
}

export { ConfigError };

/**
 * Reads the configuration from the flags and the environment.
 * @throws ConfigError for the first invalid setting
 */
export function loadConfig(flags: Flags = {}, env: NodeJS.ProcessEnv = process.env): Config {
  const text = (name: string): string | undefined => env[name]?.trim() || undefined;
  const integer = (name: string, fallback: number, min: number, max: number, flag?: string): number =>
    parseInteger(
      flag === undefined ? name : `--${name.toLowerCase()}`,
      flag ?? text(name) ?? String(fallback),
      min,
      max,
    );

  const seconds = (name: string, fallback: number, min: number, max: number): number =>
    integer(name, fallback, min, max) * 1_000;

  const clientBaseUrl = parseUrl('ASSAY_CLIENT_BASE_URL', text('ASSAY_CLIENT_BASE_URL'));
  return Object.freeze({
    dataDirectory: resolve(flags.data ?? text('ASSAY_DATA') ?? 'data'),
    databaseUrl: parseDatabaseUrl(text('ASSAY_DATABASE_URL')),
    masterKey: parseMasterKeySetting('ASSAY_MASTER_KEY', text('ASSAY_MASTER_KEY')),
    oldMasterKey: parseMasterKeySetting('ASSAY_OLD_MASTER_KEY', text('ASSAY_OLD_MASTER_KEY')),
    host: flags.host ?? text('ASSAY_HOST') ?? '127.0.0.1',
    port: integer('PORT', 8080, 0, 65_535, flags.port),
    areas: parseAreas(
      flags.areas === undefined ? 'ASSAY_AREAS' : '--areas',
      flags.areas ?? text('ASSAY_AREAS'),
    ),
    deployment: parseChoice('ASSAY_DEPLOYMENT', text('ASSAY_DEPLOYMENT') ?? 'commercial', [
      'commercial',
      'fedramp',
    ] as const),
    baseUrl: parseUrl('ASSAY_BASE_URL', text('ASSAY_BASE_URL')),
    baseUrlFedramp: parseUrl('ASSAY_BASE_URL_FEDRAMP', text('ASSAY_BASE_URL_FEDRAMP')),
    clientBaseUrl,
    // May have a query but no fragment (RFC 6749, section 3.1).
    authUrl: parseUrl('ASSAY_AUTH_URL', text('ASSAY_AUTH_URL'), /#/),
    errorTypeBase: parseUrl('ASSAY_ERROR_TYPE_BASE', text('ASSAY_ERROR_TYPE_BASE'), /\?/),
    issuer: parseUrl('ASSAY_ISSUER', text('ASSAY_ISSUER')) ?? clientBaseUrl,
    externalIssuer: parseExternalIssuer(text),
    accessTokenLifetime: seconds('ASSAY_ACCESS_TOKEN_SECONDS', 3_600, 60, DAY_SECONDS),
    refreshTokenLifetime: seconds('ASSAY_REFRESH_TOKEN_SECONDS', 30 * DAY_SECONDS, 60, YEAR_SECONDS),
    grantLifetime: seconds('ASSAY_GRANT_SECONDS', YEAR_SECONDS, 60, 10 * YEAR_SECONDS),
    implicitFlow: parseBoolean('ASSAY_IMPLICIT_FLOW', text('ASSAY_IMPLICIT_FLOW'), true),
    sessionIdle: seconds('ASSAY_SESSION_IDLE_SECONDS', 4 * 3_600, 60, YEAR_SECONDS),
    sessionLifetime: seconds('ASSAY_SESSION_SECONDS', 7 * DAY_SECONDS, 60, YEAR_SECONDS),
    invitationLifetime: seconds('ASSAY_INVITATION_SECONDS', 7 * DAY_SECONDS, 60, YEAR_SECONDS),
    staffSecondFactor: parseStaffSecondFactor(text('ASSAY_STAFF_SECOND_FACTOR')),
    auditDays: text('ASSAY_AUDIT_DAYS') === undefined ? null : integer('ASSAY_AUDIT_DAYS', 1, 1, 36_500),
    smtpUrl: parseSmtpUrl(text('ASSAY_SMTP_URL')),
    mailFrom: text('ASSAY_MAIL_FROM') ?? 'assay@localhost',
    rateLimit: integer('ASSAY_RATE_LIMIT', 3_000, 0, 1_000_000_000),
    maxConnectionsPerAddress: integer('ASSAY_MAX_CONNECTIONS_PER_ADDRESS', 256, 1, 1_000_000),
    strictScopes: parseBoolean('ASSAY_STRICT_SCOPES', text('ASSAY_STRICT_SCOPES'), false),
    maxTagBatch: integer('ASSAY_MAX_TAG_BATCH', 1_000, 1, 100_000),
    maxTagPairs: integer('ASSAY_MAX_TAG_PAIRS', 20_000, 1, 1_000_000),
    maxAssetBatch: integer('ASSAY_MAX_ASSET_BATCH', 10_000, 1, 100_000),
    bodyLimit: integer('ASSAY_BODY_LIMIT', 4 * 1024 * 1024, 1_024, 256 * 1024 * 1024),
    requestTimeout: integer('ASSAY_REQUEST_TIMEOUT', 30_000, 100, 600_000),
    uploadTimeout: integer('ASSAY_UPLOAD_TIMEOUT', 60_000, 100, 3_600_000),
    attachments: parseAttachmentStore(text),
    maxAttachmentSize: integer('ASSAY_MAX_ATTACHMENT_SIZE', 25 * 1024 * 1024, 1_024, 1024 * 1024 * 1024),
    maxAttachments: integer('ASSAY_MAX_ATTACHMENTS', 100, 1, 10_000),
    maxImportSize: integer('ASSAY_MAX_IMPORT_SIZE', 1024 ** 3, 1_024, 16 * 1024 ** 3),
    requestMemory: integer('ASSAY_REQUEST_MEMORY', 256, 64, 65_536),
    importMemory: integer('ASSAY_IMPORT_MEMORY', 512, 64, 65_536),
    trustedProxies: parseAddressBlocks('ASSAY_TRUSTED_PROXIES', text('ASSAY_TRUSTED_PROXIES')),
    metricsAllowed: parseAddressBlocks(
      'ASSAY_METRICS_ALLOWED',
      text('ASSAY_METRICS_ALLOWED') ?? '127.0.0.0/8,::1',
    ),
    logLevel: parseChoice('ASSAY_LOG_LEVEL', text('ASSAY_LOG_LEVEL') ?? 'info', LOG_LEVELS),
    demo: flags.demo ?? parseBoolean('ASSAY_DEMO', text('ASSAY_DEMO'), true),
  });
}

/** The environment variables of commands that work on a server or a data folder. */
export interface CommandEnvironment {
  /** `ASSAY_SERVER`. */
  server: string | undefined;
  /** `ASSAY_TOKEN`. */
  token: string | undefined;
  namesData: boolean;
  configFolder: string;
  /** `ASSAY_WATCH_INTERVAL`: how often `import --watch` lists its folders, in milliseconds. Undocumented; for tests. */
  watchInterval: number | undefined;
}

export function loadCommandEnvironment(env: NodeJS.ProcessEnv = process.env): CommandEnvironment {
  const text = (name: string): string | undefined => env[name]?.trim() || undefined;
  return {
    server: text('ASSAY_SERVER'),
    token: text('ASSAY_TOKEN'),
    namesData: text('ASSAY_DATA') !== undefined || text('ASSAY_DATABASE_URL') !== undefined,
    configFolder: join(
      text('XDG_CONFIG_HOME') ?? text('APPDATA') ?? join(text('HOME') ?? homedir(), '.config'),
      'assay',
    ),
    watchInterval: Number(text('ASSAY_WATCH_INTERVAL')) || undefined,
  };
}

/** The public URLs of a running server. */
export interface Addresses {
  baseUrl: string;
  baseUrlFedramp: string;
  clientBaseUrl: string;
  authUrl: string;
  errorTypeBase: string;
  /** `iss` of new tokens and of the authorization server's metadata. */
  issuer: string;
}

/** Completes the configured URLs with `origin`, where the server listens. */
export function resolveAddresses(config: Config, origin: string): Addresses {
  const clientBaseUrl = config.clientBaseUrl ?? origin;
  return {
    baseUrl: config.baseUrl ?? origin,
    baseUrlFedramp: config.baseUrlFedramp ?? config.baseUrl ?? origin,
    clientBaseUrl,
    authUrl: config.authUrl ?? `${clientBaseUrl}/oauth/authorize`,
    errorTypeBase: config.errorTypeBase ?? `${clientBaseUrl}/problems`,
    issuer: config.issuer ?? clientBaseUrl,
  };
}

/**
 * Returns the issuer of the deployment's tokens. Without configuration, it is where the server listens; tokens from
 * when it listened on another port of this machine stay valid.
 * @param addresses read at every call, as they are complete only once the server listens
 */
export function issuerIdentity(config: Config, addresses: Addresses): IssuerIdentity {
  return {
    current: () => addresses.issuer,
    accepts: (issuer) =>
      issuer === addresses.issuer ||
      (config.issuer === undefined && /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(issuer)),
  };
}

function parseStaffSecondFactor(value: string | undefined): Config['staffSecondFactor'] {
  if (value === undefined) return undefined;
  return parseChoice('ASSAY_STAFF_SECOND_FACTOR', value, ['required', 'optional']);
}

function parseAreas(name: string, value: string | undefined): readonly AreaName[] {
  if (value === undefined) return AREA_NAMES;
  const areas = parseList(value).map((area) => parseChoice(name, area, AREA_NAMES));
  if (areas.length === 0)
    throw new ConfigError(`${name} must name at least one of ${AREA_NAMES.join(', ')}.`);
  return [...new Set(areas)];
}

export type DatabaseLocation = Pick<Config, 'databaseUrl' | 'dataDirectory'>;

/** @returns the location of the database for messages, without credentials */
export function databaseLocation({ databaseUrl, dataDirectory }: DatabaseLocation): string {
  if (databaseUrl === undefined) return resolve(join(dataDirectory, 'assay.db'));
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}
