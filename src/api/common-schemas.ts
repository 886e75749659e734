import { Type } from 'typebox';

/** Maximum length of text fields, in characters (docs/companions.md, section 1). */
export const MAX_MARKDOWN_LENGTH = 65_536;

/** Non-empty Markdown in a request. */
export const markdownSchema = (example: string) =>
  Type.String({
    minLength: 1,
    maxLength: MAX_MARKDOWN_LENGTH,
    description: 'Markdown (CommonMark and tables). HTML is treated as text.',
    examples: [example],
  });
