import type { Format } from '../report.ts';
import { nmap } from './nmap/nmap.ts';

/** Every format that can be imported: one line each, in the order in which people are told of them. */
export const FORMATS: readonly Format[] = [nmap];

export function formatNamed(name: string): Format | undefined {
  return FORMATS.find((format) => format.name === name);
}
