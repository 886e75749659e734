import { createElement, Fragment, type ReactNode } from 'react';

/** The names in braces in a sentence; any name if the sentence is not a literal. */
type Placeholder<Sentence extends string> = string extends Sentence
  ? string
  : Sentence extends `${string}{${infer Name}}${infer Rest}`
    ? Name | Placeholder<Rest>
    : never;

/**
 * Replaces the placeholders of a sentence with elements, so that a message is one string. Pass texts of users as values:
 * in the sentence itself, their braces would be placeholders.
 * @example fillSentence('Last visit: {at}', { at: <Time at={at} /> })
 */
export function fillSentence<const Sentence extends string>(
  sentence: Sentence,
  values: Readonly<Record<Placeholder<Sentence>, ReactNode>>,
): ReactNode {
  // `split` with a group returns the names at odd indices.
  const parts = sentence
    .split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? part : values[part as Placeholder<Sentence>]));
  return createElement(Fragment, null, ...parts);
}
