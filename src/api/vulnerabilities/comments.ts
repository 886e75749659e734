import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  type Comment,
  commentList,
  createComment,
  deleteComment,
  updateComment,
} from '../../domain/vulnerabilities/comments.ts';
import { requireVisibleVulnerability } from '../../domain/vulnerabilities/lock-vulnerability.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { MEDIUM_BODY_LIMIT } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { DateTimeSchema, textSchema } from '../../http/schemas.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { NullableUserRefSchema, markdownSchema } from '../common-schemas.ts';
import { idParams, nestedIdParams, V1_ACCESS } from '../v1-params.ts';

const collection = '/vulnerabilities/:id/comments';
const path = `${collection}/:comment_id`;
const VulnerabilityParamsSchema = idParams('The id of a vulnerability.', 1);
const CommentParamsSchema = nestedIdParams('comment_id', 'The id of a comment.', 1);
const INTERNAL_DESCRIPTION = 'Visible to staff only. Only staff can set this.';

const CommentSchema = Type.Object(
  {
    id: Type.Integer(),
    text: textSchema('The fix is on the test system.'),
    internal: Type.Boolean({ description: 'Whether the comment is visible to staff only.' }),
    created_at: DateTimeSchema,
    updated_at: DateTimeSchema,
    user: NullableUserRefSchema,
    by_staff: Type.Boolean({ description: 'Whether staff wrote it: then only staff delete it.' }),
    body: Type.String({
      ...textSchema('The fix is on the test system.'),
      description: 'Same as `text`.',
    }),
    User: NullableUserRefSchema,
  },
  { title: 'Vulnerability comment' },
);

const NewCommentSchema = Type.Object(
  {
    text: markdownSchema('The fix is on the test system.'),
    internal: Type.Optional(
      Type.Boolean({ default: false, description: INTERNAL_DESCRIPTION, examples: [false] }),
    ),
  },
  { title: 'New comment' },
);

const UpdateCommentSchema = Type.Object(
  {
    text: Type.Optional(markdownSchema('The fix is on the test system, build 4711.')),
    internal: Type.Optional(Type.Boolean({ description: INTERNAL_DESCRIPTION, examples: [false] })),
  },
  { title: 'Comment change' },
);

const listCommentsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listComments',
    number: 24,
    summary: 'List comments',
    description: 'Lists the comments on a vulnerability, oldest first. Only staff get internal comments.',
    path: collection,
    access: V1_ACCESS,
    params: VulnerabilityParamsSchema,
    style: 'v1',
    list: commentList,
    defaultSort: { sort: 'createdAt' },
    scope: async ({ db, caller }, { id }) => {
      await requireVisibleVulnerability(db, caller, id);
      return { vulnerabilityId: [id] };
    },
    schema: CommentSchema,
    toRow: toCommentBody,
  });

const createCommentOperation = ({ clock }: Context) =>
  operation({
    id: 'createComment',
    number: 25,
    summary: 'Comment on a vulnerability',
    description: 'Adds a comment to the vulnerability.',
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    params: VulnerabilityParamsSchema,
    body: NewCommentSchema,
    bodyLimit: MEDIUM_BODY_LIMIT,
    responses: { 201: { description: 'The created comment.', schema: CommentSchema } },
    versioned: true,
    idempotency: true,
    handler: ({ caller, params: { id }, body: { text, internal = false }, writeOnce }) =>
      writeOnce(async (tx) => {
        const comment = await createComment(tx, { actor: caller, now: clock() }, id, { text, internal });
        return versionedResult(comment.version, toCommentBody(comment));
      }),
  });

const updateCommentOperation = ({ clock }: Context) =>
  operation({
    id: 'updateComment',
    number: 26,
    summary: 'Update a comment',
    description: 'Changes the comment. An absent property is unchanged. Requires its author.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: CommentParamsSchema,
    body: UpdateCommentSchema,
    bodyLimit: MEDIUM_BODY_LIMIT,
    responses: { 200: { description: 'The updated comment.', schema: CommentSchema } },
    versioned: true,
    async handler({ caller, ifMatch, params: { id, comment_id: commentId }, body, write }) {
      const by = { actor: caller, now: clock() };
      const commentKey = { vulnerabilityId: id, id: commentId };
      const comment = await write((tx) => updateComment(tx, by, commentKey, body, ifMatch));
      return versionedResult(comment.version, toCommentBody(comment));
    },
  });

const deleteCommentOperation = ({ clock }: Context) =>
  operation({
    id: 'deleteComment',
    number: 26,
    summary: 'Delete a comment',
    description: 'Deletes the comment. The timeline keeps a record of it. Requires its author or an admin.',
    method: 'DELETE',
    path,
    access: V1_ACCESS,
    params: CommentParamsSchema,
    responses: { 204: { description: 'The comment was deleted.' } },
    versioned: true,
    handler: ({ caller, ifMatch, params: { id, comment_id: commentId }, write }) =>
      write((tx) =>
        deleteComment(tx, { actor: caller, now: clock() }, { vulnerabilityId: id, id: commentId }, ifMatch),
      ),
  });

function toCommentBody({ id, text, internal, createdAt, updatedAt, user, byStaff }: Comment) {
  return {
    id,
    text,
    internal,
    created_at: formatTimestamp(createdAt),
    updated_at: formatTimestamp(updatedAt),
    user,
    by_staff: byStaff,
    body: text,
    User: user,
  };
}

export default operationsOf('v1', [
  listCommentsOperation,
  createCommentOperation,
  updateCommentOperation,
  deleteCommentOperation,
]);
