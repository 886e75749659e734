import { expect, it } from 'vitest';
import { formatSize } from '../../src/lib/format-size.ts';

it.each([
  [0, '0 bytes'],
  [1_500, '1500 bytes'],
  [1_024, '1 KiB'],
  [1_536 * 1_024, '1536 KiB'],
  [26_214_400, '25 MiB'],
  [1_073_741_824, '1 GiB'],
])('formats %d bytes as %s', (bytes, text) => expect(formatSize(bytes)).toBe(text));
