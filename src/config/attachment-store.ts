import { fileURLToPath } from 'node:url';
import { ConfigError } from './parsers.ts';

/** Where attachments are stored. */
export type AttachmentStoreConfig =
  { kind: 'folder'; folder: string } | { kind: 'database' } | ({ kind: 's3' } & S3Settings);

export interface S3Settings {
  bucket: string;
  /** Prefix of object names: empty, or ending in a slash. */
  prefix: string;
  region: string;
  /** The URL of a server with path-style buckets; `undefined` for Amazon S3. */
  endpoint: string | undefined;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
}

/**
 * Reads `ASSAY_ATTACHMENTS` and the settings of its store.
 * @param setting reads a setting by its name; returns `undefined` if it is not set
 * @returns `undefined` if `ASSAY_ATTACHMENTS` is not set
 * @throws ConfigError for a value that is neither a folder nor a bucket, and for a bucket without credentials
 */
export function parseAttachmentStore(
  setting: (name: string) => string | undefined,
): AttachmentStoreConfig | undefined {
  const value = setting('ASSAY_ATTACHMENTS');
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  if (url?.protocol === 'file:' && url.host === '') return { kind: 'folder', folder: fileURLToPath(url) };
  if (
    url?.protocol === 's3:' &&
    url.username === '' &&
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.host) &&
    url.search === ''
  )
    return parseS3Store(setting, url);
  // The message must not repeat a password.
  throw new ConfigError('ASSAY_ATTACHMENTS must look like file:///folder or s3://bucket/prefix.');
}

function parseS3Store(
  setting: (name: string) => string | undefined,
  { host, pathname }: URL,
): AttachmentStoreConfig {
  const credential = (name: string): string => {
    const value = setting(name);
    if (value === undefined)
      throw new ConfigError(`ASSAY_ATTACHMENTS names a bucket, so ${name} must be set.`);
    return value;
  };
  const endpoint = setting('AWS_ENDPOINT_URL_S3') ?? setting('AWS_ENDPOINT_URL');
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    throw new ConfigError('AWS_ENDPOINT_URL must be an http or https URL.');
  const prefix = decodeURIComponent(pathname).replace(/^\/+|(?<!\/)\/+$/g, '');
  return {
    kind: 's3',
    bucket: host,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region: setting('AWS_REGION') ?? setting('AWS_DEFAULT_REGION') ?? 'us-east-1',
    endpoint: endpoint?.replace(/(?<!\/)\/+$/, ''),
    accessKeyId: credential('AWS_ACCESS_KEY_ID'),
    secretAccessKey: credential('AWS_SECRET_ACCESS_KEY'),
    sessionToken: setting('AWS_SESSION_TOKEN'),
  };
}
