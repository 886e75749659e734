import { Type } from 'typebox';
import { MAX_TEXT } from '../../http/schemas.ts';

/** The specification leaves the end of the pattern open: a longer uid is well-formed, and no row has it. */
export const OrganizationPath = Type.Object({
  orgUid: Type.String({
    pattern: '^[0-9a-z]{1,50}',
    maxLength: MAX_TEXT,
    description: 'An organization, or a group of organizations.',
    examples: ['acme'],
  }),
});

const EntityReference = Type.Object({
  uid: Type.String({
    maxLength: MAX_TEXT,
    description: 'The uid of an asset.',
    examples: ['5f0c1e2d3b4a59687786a5b4'],
  }),
});

/** @param maxItems the largest batch */
export const createTagsBody = (maxItems: number) =>
  Type.Object({
    tags: Type.Array(
      Type.Object({
        name: Type.String({
          maxLength: MAX_TEXT,
          description: '1 to 255 characters.',
          examples: ['internet-facing'],
        }),
        entities: Type.Optional(Type.Array(EntityReference, { maxItems, 'x-batch': true })),
      }),
      { minItems: 1, maxItems },
    ),
  });

/** @param maxItems the largest batch */
export const changeTaggingsBody = (maxItems: number) =>
  Type.Object({
    uids: Type.Array(Type.String({ maxLength: MAX_TEXT, examples: ['0a1b2c3d4e5f'] }), {
      minItems: 1,
      maxItems,
      description: 'The tags to change.',
    }),
    addEntities: Type.Optional(
      Type.Array(EntityReference, { maxItems, description: 'The assets to attach.' }),
    ),
    delEntityUids: Type.Optional(
      Type.Array(Type.String({ maxLength: MAX_TEXT, examples: ['6a1d2f3e4c5b6a79788695a4'] }), {
        maxItems,
        description: 'The uids of the assets to detach.',
      }),
    ),
  });

export const TagsResponse = Type.Object({
  tags: Type.Array(
    Type.Object({
      uid: Type.String({ maxLength: MAX_TEXT, examples: ['0a1b2c3d4e5f'] }),
      name: Type.String({ maxLength: MAX_TEXT, examples: ['internet-facing'] }),
      orgUid: Type.String({ maxLength: MAX_TEXT, examples: ['acme'] }),
      entities: Type.Array(
        Type.Object({
          uid: Type.String({ maxLength: MAX_TEXT, examples: ['5f0c1e2d3b4a59687786a5b4'] }),
          entityType: Type.Literal('asset'),
        }),
        { maxItems: 100_000 },
      ),
    }),
    { maxItems: 100_000 },
  ),
});
