import { Type } from 'typebox';

/** Characters of a text of companions, unless another limit is told (docs/companions.md, section 1). */
export const MAX_MARKDOWN_LENGTH = 65_536;

/** A text that people write, in a request, and that says something. */
export const markdownSchema = (example: string) =>
  Type.String({
    minLength: 1,
    maxLength: MAX_MARKDOWN_LENGTH,
    description: 'Markdown (CommonMark and tables); HTML in it is text.',
    examples: [example],
  });
