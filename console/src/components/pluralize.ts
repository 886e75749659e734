/** @returns what as many are called: "asset", "assets" */
export const pluralNoun = (count: number, one: string, many = `${one}s`) => (count === 1 ? one : many);

/** @returns how many there are, in words: "1 asset", "2,000 assets" */
export const pluralize = (count: number, one: string, many?: string) =>
  `${count.toLocaleString()} ${pluralNoun(count, one, many)}`;

export const pluralizePeople = (count: number) => pluralize(count, 'person', 'people');

export const pluralizeVulnerabilities = (count: number) =>
  pluralize(count, 'vulnerability', 'vulnerabilities');
