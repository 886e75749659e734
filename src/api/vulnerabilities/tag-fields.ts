import { type Static, Type } from 'typebox';
import type { PartialInput } from '../../domain/shared/partial-input.ts';
import { nameSchema } from '../../http/schemas.ts';

const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
const MAX_TAGS = 1_000;
const TagIdSchema = Type.Integer({ minimum: -MAX_INTEGER, maximum: MAX_INTEGER, examples: [1] });
const nameField = nameSchema('regression');

/**
 * One schema for both forms, so that each error is reported once: an object is validated by its properties, anything
 * else by its value.
 */
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

/** The tag fields of the companions, which also accept tags as returned. */
export const TAG_FIELDS = {
  tags: Type.Optional(
    Type.Array(TagByIdSchema, {
      maxItems: MAX_TAGS,
      description:
        'Tag ids, or tags as returned by the API. Together with `tag_list`, replaces the tags; `[]` removes all of them.',
    }),
  ),
  tag_list: Type.Optional(
    Type.Array(TagByNameSchema, {
      maxItems: MAX_TAGS,
      description: 'Tag names, or tags as returned by the API. Tags that do not exist are created.',
    }),
  ),
};

const TagFieldsSchema = Type.Object(TAG_FIELDS);

export function toTagsInput({ tags, tag_list: list }: PartialInput<Static<typeof TagFieldsSchema>>): {
  tagIds: number[] | undefined;
  tagNames: string[] | undefined;
} {
  return {
    tagIds: tags?.flatMap((tag) => (typeof tag === 'number' ? tag : (tag.id ?? []))),
    tagNames: list?.flatMap((tag) => (typeof tag === 'string' ? tag : (tag.name ?? []))),
  };
}
