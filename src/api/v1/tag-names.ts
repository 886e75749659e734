import { Type } from 'typebox';
import { MAX_TEXT } from '../../http/schemas.ts';

/** The name of a tag in a request. */
export const TagName = Type.String({
  maxLength: MAX_TEXT,
  description: '1 to 255 characters.',
  examples: ['needs-retest'],
});

export const RenameBody = Type.Object({ name: TagName });
