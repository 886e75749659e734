import { Type } from 'typebox';
import { emailSchema, nameSchema, nullable, nullableTextSchema } from '../http/schemas.ts';

/** Maximum length of Markdown in a request, in characters. */
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
  { id: Type.Integer(), name: nullableTextSchema('Ada Lovelace'), email: emailSchema('ada@acme.example') },
  { title: 'Named user' },
);

/** Null for actions without a user, and for deleted users. */
export const NullableUserRefSchema = nullable(UserRefSchema);

export const RenameTagSchema = Type.Object({ name: nameSchema('needs-retest') }, { title: 'Tag rename' });

export const Sha256Schema = Type.String({
  pattern: '^[0-9a-f]{64}$',
  maxLength: 64,
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
});
