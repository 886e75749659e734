import { fileURLToPath } from 'node:url';
import { ConfigError } from './config-error.ts';

/** Where the contents of attachments are kept. */
export type AttachmentStoreConfig =
  { kind: 'folder'; folder: string } | { kind: 'database' } | ({ kind: 's3' } & S3Settings);

export interface S3Settings {
  bucket: string;
  /** What the names of objects begin with; empty, or with a slash at its end. */
  prefix: string;
  region: string;
  /** The address of another server than Amazon's, which has buckets in the path; `undefined` for Amazon's. */
  endpoint: string | undefined;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
}

/**
 * Reads where attachments are kept.
 * @param setting reads one by its name; `undefined` where it is not set
 * @returns `undefined` where nothing is told
 * @throws ConfigError for what is neither a folder nor a bucket, and for a bucket without credentials
 */
export function parseAttachmentStore(
  setting: (name: string) => string | undefined,
): AttachmentStoreConfig | undefined {
  const value = setting('ASSAY_ATTACHMENTS');
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === 'file:' && url.host === '') return { kind: 'folder', folder: fileURLToPath(url) };
  if (
    url?.protocol === 's3:' &&
    url.username === '' &&
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.host) &&
    url.search === ''
  )
    return parseS3Store(setting, url);
  // The value may hold a password, so the message does not repeat it.
  throw new ConfigError('ASSAY_ATTACHMENTS must look like file:///folder or s3://bucket/prefix.');
}

function parseS3Store(
  setting: (name: string) => string | undefined,
  { host, pathname }: URL,
): AttachmentStoreConfig {
  const credential = (name: string): string => {
    const value = setting(name);
    if (value === undefined)
      throw new ConfigError(`ASSAY_ATTACHMENTS names a bucket, and ${name} is not set.`);
    return value;
  };
  const endpoint = setting('AWS_ENDPOINT_URL_S3') ?? setting('AWS_ENDPOINT_URL');
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)))
    throw new ConfigError('AWS_ENDPOINT_URL must be an http or https address.');
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
