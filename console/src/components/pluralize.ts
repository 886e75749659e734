/** @returns what as many are called: "asset", "assets" */
export const noun = (count: number, one: string, many = `${one}s`) => (count === 1 ? one : many);

/** @returns how many there are, in words: "1 asset", "2,000 assets" */
export const counted = (count: number, one: string, many?: string) =>
  `${count.toLocaleString()} ${noun(count, one, many)}`;

export const peopleText = (count: number) => counted(count, 'person', 'people');

export const vulnerabilitiesText = (count: number) => counted(count, 'vulnerability', 'vulnerabilities');
