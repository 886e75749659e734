declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether parts of the response can be requested. */
    ranged?: boolean;
  }
}

const MAX_HEADER_LENGTH = 8_192;
const text = (description: string) => ({ type: 'string', maxLength: MAX_HEADER_LENGTH, description });

/** Request headers, as described in the API description. */
export const RANGE_HEADERS = {
  Range: text('A byte range, for example `bytes=0-1023`. Several ranges return the whole file.'),
  'If-Range': text('An ETag. If it does not match, the whole file is returned.'),
  'If-None-Match': text('ETags, or `*`. Returns 304 if the file matches one of them.'),
};

/** Inclusive at both ends. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Parses `Range` (RFC 9110, section 14.2).
 * @param size the size of the file, in bytes
 * @returns `undefined` if the response is the complete file, also for several ranges; `unsatisfiable` for a range past
 *   the end
 */
export function parseRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    // A suffix range: the last bytes.
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** Formats `Content-Disposition` (RFC 6266) with an ASCII name for old clients and the exact one (RFC 8187). */
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
