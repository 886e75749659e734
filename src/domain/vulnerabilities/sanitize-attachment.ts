const MAX_FILENAME = 255;

/** Control characters, bidirectional controls and path separators. */
const FORBIDDEN_CHARACTERS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069/\\]/gu;

/** @returns the last part of a path without `FORBIDDEN_CHARACTERS`; `file` if nothing is left */
export function sanitizeFilename(filename: string | undefined): string {
  const last = (filename ?? '').split(/[/\\]/).at(-1) ?? '';
  const clean = last.toWellFormed().normalize('NFC').replace(FORBIDDEN_CHARACTERS, '').trim();
  const name = clean.replace(/^\.+$/, '');
  if (name === '') return 'file';
  if (name.length <= MAX_FILENAME) return name;
  const extension = /\.[^.]{1,20}$/.exec(name)?.[0] ?? '';
  // Do not split a surrogate pair.
  const start = name.slice(0, MAX_FILENAME - extension.length).replace(/[\uD800-\uDBFF]$/, '');
  return start + extension;
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/;

/** @returns the media type without parameters; `application/octet-stream` for an invalid one */
export function sanitizeMediaType(type: string): string {
  const bare = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return MEDIA_TYPE.test(bare) ? bare : 'application/octet-stream';
}
