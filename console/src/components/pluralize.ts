/** @returns the noun for a count: "asset", "assets" */
export const pluralForm = (count: number, singular: string, plural = `${singular}s`) =>
  count === 1 ? singular : plural;

/** @returns a count with its noun: "1 asset", "2,000 assets" */
export const pluralize = (count: number, singular: string, plural?: string) =>
  `${count.toLocaleString()} ${pluralForm(count, singular, plural)}`;

export const pluralizePeople = (count: number) => pluralize(count, 'person', 'people');

export const pluralizeFindings = (count: number) => pluralize(count, 'finding');

export const pluralizeAssets = (count: number) => pluralize(count, 'asset');

/** @returns hours, rounded to two decimals: "2.5 hours" */
export const pluralizeHours = (hours: number) =>
  `${hours.toLocaleString(undefined, { maximumFractionDigits: 2 })} ${pluralForm(hours, 'hour')}`;
