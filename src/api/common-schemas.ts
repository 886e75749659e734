import { Type } from 'typebox';
import { nameSchema, nullableTextSchema, textSchema } from '../http/schemas.ts';

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

/** A user inside another object. */
export const UserRefSchema = Type.Object(
  {
    id: Type.Integer(),
    name: nullableTextSchema('Ada Lovelace'),
    email: textSchema('ada@acme.example'),
  },
  { title: 'Named user' },
);

/** Null for actions without a user, and for deleted users. */
export const NullableUserRefSchema = Type.Union([UserRefSchema, Type.Null()]);

export const RenameTagSchema = Type.Object({ name: nameSchema('needs-retest') }, { title: 'Tag rename' });
