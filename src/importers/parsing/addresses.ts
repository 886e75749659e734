import { isIP } from 'node:net';
import { normalizeLocation } from '../../domain/assets/asset-locations.ts';

/** @returns an IP address in canonical form; `undefined` if the text is none */
export function normalizeAddress(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  if (isIP(trimmed) === 0) return undefined;
  const known = normalizeLocation('host', trimmed);
  return 'location' in known ? known.location : undefined;
}
