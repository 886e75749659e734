import { type Static, Type } from 'typebox';
import { nameText } from '../../http/schemas.ts';

const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
const MAX_TAGS = 1_000;
const TagId = Type.Integer({ minimum: -MAX_INTEGER, maximum: MAX_INTEGER, examples: [1] });
const name = nameText('regression');

/** Either form in one schema, whose faults are told once: of an object its type looks at the members, else at the value. */
const TagById = Type.Unsafe<number | { id: number }>({
  ...TagId,
  type: ['integer', 'object'],
  properties: { id: TagId },
  required: ['id'],
  title: 'Vulnerability tag by id',
});
const TagByName = Type.Unsafe<string | { name: string }>({
  ...name,
  type: ['string', 'object'],
  properties: { name },
  required: ['name'],
  title: 'Vulnerability tag by name',
});

/** The tags of a vulnerability as a companion takes them: also as they are told. */
export const TagInputs = {
  tags: Type.Optional(
    Type.Array(TagById, {
      maxItems: MAX_TAGS,
      description:
        'Ids of tags, or tags as they are told. Together with `tag_list` the tags to be; `[]` clears them.',
    }),
  ),
  tag_list: Type.Optional(
    Type.Array(TagByName, {
      maxItems: MAX_TAGS,
      description: 'Names of tags, or tags as they are told; they are created where they are new.',
    }),
  ),
};

const Given = Type.Object(TagInputs);

/** @returns what a body says of tags, as the rules take it */
export function tagsInput({ tags, tag_list: list }: Static<typeof Given>): {
  tagIds: number[] | undefined;
  tagNames: string[] | undefined;
} {
  return {
    tagIds: tags?.map((tag) => (typeof tag === 'number' ? tag : tag.id)),
    tagNames: list?.map((tag) => (typeof tag === 'string' ? tag : tag.name)),
  };
}
