const MAX_FILENAME = 255;

/** What a name may not have: control characters, those that turn the text around them, and what ends a folder's name. */
const FORBIDDEN_CHARACTERS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069/\\]/gu;

/** @returns the last part of a path as a name that any system takes and that looks like what it is */
export function sanitizeFilename(filename: string | undefined): string {
  const last = (filename ?? '').split(/[/\\]/).at(-1) ?? '';
  const clean = last.toWellFormed().normalize('NFC').replace(FORBIDDEN_CHARACTERS, '').trim();
  const name = clean.replace(/^\.+$/, '');
  if (name === '') return 'file';
  if (name.length <= MAX_FILENAME) return name;
  const extension = /\.[^.]{1,20}$/.exec(name)?.[0] ?? '';
  // Half of a character outside the first plane is none.
  const start = name.slice(0, MAX_FILENAME - extension.length).replace(/[\uD800-\uDBFF]$/, '');
  return start + extension;
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/;

/** @returns a media type without its parameters; that of unknown bytes for what is none */
export function sanitizeMediaType(type: string): string {
  const bare = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return MEDIA_TYPE.test(bare) ? bare : 'application/octet-stream';
}
