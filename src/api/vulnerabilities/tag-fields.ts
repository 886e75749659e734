import { type Static, Type } from 'typebox';
import { nameSchema } from '../../http/schemas.ts';

const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
const MAX_TAGS = 1_000;
const TagIdSchema = Type.Integer({ minimum: -MAX_INTEGER, maximum: MAX_INTEGER, examples: [1] });
const nameField = nameSchema('regression');

/** Either form in one schema, whose faults are told once: of an object its type looks at the members, else at the value. */
const TagByIdSchema = Type.Unsafe<number | { id: number }>({
  ...TagIdSchema,
  type: ['integer', 'object'],
  properties: { id: TagIdSchema },
  required: ['id'],
  title: 'Vulnerability tag by id',
});
const TagByNameSchema = Type.Unsafe<string | { name: string }>({
  ...nameField,
  type: ['string', 'object'],
  properties: { name: nameField },
  required: ['name'],
  title: 'Vulnerability tag by name',
});

/** The tags of a vulnerability as a companion takes them: also as they are told. */
export const TAG_FIELDS = {
  tags: Type.Optional(
    Type.Array(TagByIdSchema, {
      maxItems: MAX_TAGS,
      description:
        'Ids of tags, or tags as they are told. Together with `tag_list` the tags to be; `[]` clears them.',
    }),
  ),
  tag_list: Type.Optional(
    Type.Array(TagByNameSchema, {
      maxItems: MAX_TAGS,
      description: 'Names of tags, or tags as they are told; they are created where they are new.',
    }),
  ),
};

const TagFieldsSchema = Type.Object(TAG_FIELDS);

/** @returns what a body says of tags, as the rules take it */
export function toTagsInput({ tags, tag_list: list }: Static<typeof TagFieldsSchema>): {
  tagIds: number[] | undefined;
  tagNames: string[] | undefined;
} {
  return {
    tagIds: tags?.map((tag) => (typeof tag === 'number' ? tag : tag.id)),
    tagNames: list?.map((tag) => (typeof tag === 'string' ? tag : tag.name)),
  };
}
