/** The limit of the API. */
const MAX_LENGTH = 50;

/** @returns the id of a new assessment with a name: "Lumen infra Q4" has "lumen-infra-q4"; empty without Latin letters */
export const uidOfName = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^0-9a-z]+/g, '-')
    .replace(/^-/, '')
    .slice(0, MAX_LENGTH)
    .replace(/-$/, '');
