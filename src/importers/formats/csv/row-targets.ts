import { portAndProtocolOf } from '../../parsing/scanned-hosts.ts';
import { memoize } from '../../../lib/memoize.ts';
import type { ReportedFinding, ScanTarget } from '../../report.ts';
import { endpointOf } from '../generic/endpoints.ts';
import type { CsvField } from './columns.ts';

/** Entries. */
const CACHE_SIZE = 5_000;
/** Hosts per row. */
const MAX_HOSTS = 100;

type RowTarget = Pick<ReportedFinding, 'target' | 'locations'>;

/**
 * @param cell returns the text of a field
 * @param version of the package
 * @returns a target for each host or URL that the row names; else its file or package; else one without a target
 */
export function targetsOfRow(
  cell: (field: CsvField) => string | undefined,
  version: string | undefined,
): RowTarget[] {
  const port = portAndProtocolOf(cell('port'), cell('protocol'));
  const host = cell('host');
  for (const text of [cell('url'), host]) {
    const targets = text === undefined ? [] : cachedTargets({ text, ...port });
    if (targets.length > 0) return targets.map((target) => ({ target }));
  }
  if (host !== undefined) return [{ target: { host, ...port } }];
  const [path, component] = [cell('file'), cell('package')];
  if (path === undefined && component === undefined) return [{}];
  const { name, version: parsedVersion } = splitVersion(component);
  const nameAndVersion = [name, version ?? parsedVersion].filter((part) => part !== undefined).join(' ');
  return [
    {
      target: { artifact: path ?? name ?? '', path, package: name },
      locations: [{ type: 'file', value: [path, nameAndVersion].filter(Boolean).join(': ') }],
    },
  ];
}

type NamedPort = Partial<NonNullable<ReturnType<typeof portAndProtocolOf>>>;

/** Reports repeat few hosts and ports. */
const cachedTargets = memoize(
  targetsIn,
  ({ text, port, protocol }) => `${protocol ?? ''}/${port ?? ''} ${text}`,
  CACHE_SIZE,
);

/** Reads `host`, `host:port`, URLs, and lists of them. @returns none if a part is something else */
function targetsIn({ text, ...port }: { text: string } & NamedPort): ScanTarget[] {
  const parts = partsOf(text);
  if (parts.length > MAX_HOSTS) return [];
  const targets = parts.flatMap((part) => endpointOf(part)?.target ?? []);
  if (targets.length < parts.length) return [];
  return targets.map((target) =>
    'host' in target && target.port === undefined ? { ...target, ...port } : target,
  );
}

/** URLs contain commas, and what contains spaces is a list only if each part looks like an address or a full name. */
function partsOf(text: string): string[] {
  const isUrl = /^[a-z][a-z\d+.-]{0,30}:\/\//i.test(text);
  const parts = isUrl
    ? text.split(/\s+|[,;](?=https?:\/\/)/i).map((part) => part.replace(/[,;]$/, ''))
    : text.split(/[,;\n]/);
  const all = parts.flatMap((part) => {
    const words = part.split(/\s+/);
    return words.every((word) => /[.:]|^$/.test(word)) ? words : part.trim();
  });
  return all.filter((part) => part !== '');
}

/** Splits `lodash 4.17.1` and `lodash@4.17.1`, because a newer version is the same package. */
function splitVersion(text: string | undefined): { name: string | undefined; version?: string } {
  const [, name, version] = /^(\S.{0,500}?)[@ ]v?(\d[\w.+~:-]{0,100})$/.exec(text ?? '') ?? [];
  return name === undefined || version === undefined ? { name: text } : { name, version };
}
