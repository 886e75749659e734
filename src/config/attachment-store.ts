import { fileURLToPath } from 'node:url';
import { ConfigError } from './parsers.ts';

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
  const path = url === null ? undefined : decodePath(url.pathname);
  if (url !== null && path !== undefined) {
    // A folder cannot contain an escaped slash.
    if (url.protocol === 'file:' && url.host === '' && !/%2f/i.test(url.pathname))
      return { kind: 'folder', folder: fileURLToPath(url) };
    if (
      url.protocol === 's3:' &&
      url.username === '' &&
      /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.host) &&
      url.search === ''
    )
      return parseS3Store(setting, url.host, path);
  }
  // The message must not repeat a password.
  throw new ConfigError('ASSAY_ATTACHMENTS must look like file:///folder or s3://bucket/prefix.');
}

/** @returns `undefined` if the path has an invalid escape */
function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function parseS3Store(
  setting: (name: string) => string | undefined,
  bucket: string,
  path: string,
): AttachmentStoreConfig {
  const credential = (name: string): string => {
    const value = setting(name);
    if (value === undefined)
      throw new ConfigError(`ASSAY_ATTACHMENTS names a bucket, so ${name} must be set.`);
    return value;
  };
  const endpointName =
    setting('AWS_ENDPOINT_URL_S3') === undefined ? 'AWS_ENDPOINT_URL' : 'AWS_ENDPOINT_URL_S3';
  const endpoint = setting(endpointName);
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    throw new ConfigError(`${endpointName} must be an http or https URL.`);
  const prefix = path.replace(/^\/+|(?<!\/)\/+$/g, '');
  return {
    kind: 's3',
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region: setting('AWS_REGION') ?? setting('AWS_DEFAULT_REGION') ?? 'us-east-1',
    endpoint: endpoint?.replace(/(?<!\/)\/+$/, ''),
    accessKeyId: credential('AWS_ACCESS_KEY_ID'),
    secretAccessKey: credential('AWS_SECRET_ACCESS_KEY'),
    sessionToken: setting('AWS_SESSION_TOKEN'),
  };
}
