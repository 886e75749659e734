import { isIP } from 'node:net';
import { locationOf } from '../../domain/assets/asset-locations.ts';

/** @returns an IP address in the one form that hosts are known by; `undefined` for what is none */
export function addressOf(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  if (isIP(trimmed) === 0) return undefined;
  const known = locationOf('host', trimmed);
  return 'location' in known ? known.location : undefined;
}
