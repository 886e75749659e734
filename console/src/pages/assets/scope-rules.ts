/** @returns the scope rules that a text has, one a line */
export function parseScopeRules(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
