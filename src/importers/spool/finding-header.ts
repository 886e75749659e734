import type { AssetLocation, ScanScopeKey } from '../../domain/imports/detection.ts';

/** The part of a finding that identifies it. */
export interface FindingHeader {
  identity: string;
  source: string;
  asset: AssetLocation | null;
  coverage: ScanScopeKey | null;
  /** Milliseconds since 1970; `null` if only the report has a time. */
  seenAt: number | null;
  /** Whether it has a time that is not understood. */
  isTimeUnclear: boolean;
  /** Names of the tags that it gets when it is created. */
  tags: readonly string[];
}

/** The part of a header that is stored as JSON. The rest has columns of its own. */
type EncodedHeader = Omit<FindingHeader, 'identity' | 'seenAt'>;

type HeaderTuple = [
  source: string,
  type: AssetLocation['type'] | null,
  location: string,
  key: string | null,
  host: string | null,
  ports: string,
  isTimeUnclear: 0 | 1,
  ...tags: string[],
];

export function encodeHeader({ source, asset, coverage, isTimeUnclear, tags }: EncodedHeader): string {
  return JSON.stringify([
    source,
    asset?.type ?? null,
    asset?.location ?? null,
    coverage?.key ?? null,
    coverage?.host ?? null,
    coverage?.ports ?? '',
    isTimeUnclear ? 1 : 0,
    ...tags,
  ]);
}

export function decodeHeader(text: string): EncodedHeader {
  const [source, type, location, key, host, ports, isTimeUnclear, ...tags] = JSON.parse(text) as HeaderTuple;
  return {
    source,
    asset: type === null ? null : { type, location },
    coverage: key === null ? null : { key, host, ports },
    isTimeUnclear: isTimeUnclear === 1,
    tags,
  };
}
