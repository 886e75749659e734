import { pluralize } from './pluralize.ts';

/** Strings of evidence. */
export const httpMessageMessages = {
  kinds: {
    request: 'Request',
    response: 'Response',
    exchange: 'Request and response',
    image: 'Image',
    other: 'Evidence',
  },
  label: (number: number) => `Evidence ${number}`,
  lineCount: (count: number) => pluralize(count, 'line'),
  copy: (number: number) => `Copy evidence ${number}`,
  copyAsCurl: 'Copy as curl',
  wrap: 'Wrap',
  wrapLabel: (number: number) => `Wrap lines of evidence ${number}`,
  showMoreLines: (count: number, remaining: number) =>
    count === remaining
      ? `Show ${pluralize(count, 'more line')}`
      : `Show ${count.toLocaleString()} of ${pluralize(remaining, 'more line')}`,
} as const;
