declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a part of the answer can be asked for. */
    ranged?: boolean;
  }
}

const MAX_HEADER_LENGTH = 8_192;
const text = (description: string) => ({ type: 'string', maxLength: MAX_HEADER_LENGTH, description });

/** The request headers of such an operation, as the description has them. */
export const RANGE_HEADERS = {
  Range: text('The bytes that are wanted: `bytes=0-1023`. Of several ranges the whole is sent.'),
  'If-Range': text('An ETag: with another than the file has, the whole is sent.'),
  'If-None-Match': text('ETags, or `*`: a 304 when the file has one of them.'),
};

/** Bytes from `start` to `end`, both included. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Reads `Range` (RFC 9110, section 14.2). Of several ranges the whole is sent, as that section allows.
 * @param size of the whole, in bytes
 * @returns the part that is wanted; `undefined` for the whole, `unsatisfiable` for a part that is not there
 */
export function parseRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    // The last so many bytes.
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/**
 * @param filename any text
 * @returns `Content-Disposition` of a download (RFC 6266), with the name for old clients, and as it is (RFC 8187)
 */
export function formatContentDisposition(filename: string): string {
  const plain = filename
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .replace(/[^ -~]|["\\%]/g, '_');
  const exact = encodeURIComponent(filename).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return plain === filename
    ? `attachment; filename="${plain}"`
    : `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
