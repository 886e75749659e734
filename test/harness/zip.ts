import { crc32, deflateRawSync } from 'node:zlib';

/**
 * An entry of a zip archive.
 * @param options `described`: whether the sizes follow the data, as streaming tools write them
 */
export function entry(
  name: string,
  contents: string,
  { described = false, method = 8, flags = 0 } = {},
): Buffer {
  const data = Buffer.from(contents);
  const content = method === 8 ? deflateRawSync(data) : data;
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(flags | (described ? 8 : 0), 6);
  header.writeUInt16LE(method, 8);
  header.writeUInt16LE(Buffer.byteLength(name), 26);
  const sizes = Buffer.alloc(12);
  sizes.writeUInt32LE(crc32(data), 0);
  sizes.writeUInt32LE(content.length, 4);
  sizes.writeUInt32LE(data.length, 8);
  if (!described) sizes.copy(header, 14);
  const descriptor = Buffer.concat([Buffer.from('PK\x07\x08', 'latin1'), sizes]);
  return Buffer.concat([header, Buffer.from(name), content, described ? descriptor : Buffer.alloc(0)]);
}

const DIRECTORY = Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), Buffer.alloc(60)]);

/** A zip archive with an empty central directory. */
export const zip = (...entries: Buffer[]) => Buffer.concat([...entries, DIRECTORY]);
