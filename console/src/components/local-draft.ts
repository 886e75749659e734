import { tellError } from './notifications.tsx';

const nameOf = (key: string) => `assay-draft-${key}`;

/** @returns what this browser keeps of what somebody wrote, and `undefined` where that is none of what is asked for */
export function readKept<Kept>(key: string, isKept: (kept: Partial<Kept>) => boolean): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(nameOf(key)) ?? 'null') as Kept | null;
    return kept === null || !isKept(kept) ? undefined : kept;
  } catch {
    return undefined;
  }
}

/** Keeps what somebody writes in this browser, until it is forgotten. */
export function keep(key: string, kept: object): void {
  try {
    localStorage.setItem(nameOf(key), JSON.stringify(kept));
  } catch (error) {
    tellError('This draft is too long for this browser to keep: save it before you leave', error);
  }
}

export function forgetKept(key: string): void {
  localStorage.removeItem(nameOf(key));
}
