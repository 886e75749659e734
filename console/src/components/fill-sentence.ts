import { createElement, Fragment, type ReactNode } from 'react';

/** The names in braces of a sentence; any name if the sentence is not a literal. */
type Placeholder<Sentence extends string> = string extends Sentence
  ? string
  : Sentence extends `${string}{${infer Name}}${infer Rest}`
    ? Name | Placeholder<Rest>
    : never;

/**
 * Puts elements into a sentence, so that a message is whole. Texts of users are values too: in the sentence, their braces would
 * count.
 * @example fillSentence('Last visit: {at}', { at: <Time at={at} /> })
 */
export function fillSentence<const Sentence extends string>(
  sentence: Sentence,
  values: Readonly<Record<Placeholder<Sentence>, ReactNode>>,
): ReactNode {
  // Split by a group, the odd parts are names.
  const parts = sentence
    .split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? part : values[part as Placeholder<Sentence>]));
  return createElement(Fragment, null, ...parts);
}
