const HUES = 8;

/** @returns the number of the hue of a person, an organization or a tag; an id always has the same one */
export const hueOf = (id: number | string): number =>
  typeof id === 'number'
    ? id % HUES
    : [...id].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % HUES;

/** @returns the first letters of the first and the last word of a name or an email address, or two of a single word */
export function initialsOf(name: string): string {
  const words = name.replace(/@.*/, '').match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const letters = words.map((word) => [...word]);
  const initials =
    letters.length > 1 ? [letters[0]?.[0], letters.at(-1)?.[0]] : (letters[0]?.slice(0, 2) ?? []);
  return initials.join('').toUpperCase();
}
