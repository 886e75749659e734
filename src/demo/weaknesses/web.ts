import { ACCESS } from './access.ts';
import { EXPOSURE } from './exposure.ts';
import { INJECTION } from './injection.ts';
import { SESSIONS } from './sessions.ts';
import type { Weakness } from './weakness.ts';

/** What is found in web applications, mixed: a tester does not go by chapters. */
export const WEB: readonly Weakness[] = mixed([INJECTION, ACCESS, SESSIONS, EXPOSURE]);

function mixed(chapters: readonly (readonly Weakness[])[]): Weakness[] {
  const longest = Math.max(...chapters.map((chapter) => chapter.length));
  return Array.from({ length: longest }, (_nothing, place) =>
    chapters.flatMap((chapter) => chapter[place] ?? []),
  ).flat();
}
