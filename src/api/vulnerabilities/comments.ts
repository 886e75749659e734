import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import {
  type Comment,
  commentList,
  createComment,
  deleteComment,
  updateComment,
} from '../../domain/vulnerabilities/comments.ts';
import { findVulnerability } from '../../domain/vulnerabilities/lock-vulnerability.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { MEDIUM_BODY } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { DateTime, storedText } from '../../http/schemas.ts';
import { versioned } from '../../http/etags.ts';
import { NamedUserOrNull } from '../v1/named-users.ts';
import { idPath, innerPath, V1_ACCESS } from '../v1-params.ts';
import { markdownText } from '../common-schemas.ts';

const collection = '/vulnerabilities/:id/comments';
const path = `${collection}/:comment_id`;
const VulnerabilityPath = idPath('The id of a vulnerability.', 1);
const CommentPath = innerPath('comment_id', 'The id of a comment.', 1);
const Internal = 'Told to staff alone, who alone may say so.';

const CommentBody = Type.Object(
  {
    id: Type.Integer(),
    text: storedText('The fix is on the test system.'),
    internal: Type.Boolean({ description: 'Whether it is told to staff alone.' }),
    created_at: DateTime,
    updated_at: DateTime,
    user: NamedUserOrNull,
    body: Type.String({
      ...storedText('The fix is on the test system.'),
      description: 'The same as `text`.',
    }),
    User: NamedUserOrNull,
  },
  { title: 'Comment' },
);

const NewCommentBody = Type.Object(
  {
    text: markdownText('The fix is on the test system.'),
    internal: Type.Optional(Type.Boolean({ default: false, description: Internal, examples: [false] })),
  },
  { title: 'New comment' },
);

const CommentChangeBody = Type.Object(
  {
    text: Type.Optional(markdownText('The fix is on the test system, build 4711.')),
    internal: Type.Optional(Type.Boolean({ description: Internal, examples: [false] })),
  },
  { title: 'Comment change' },
);

const declareListComments = (context: Context) =>
  listOperation(context, {
    id: 'listComments',
    number: 24,
    summary: 'List comments',
    description: 'The comments on a vulnerability, oldest first. Internal ones are told to staff alone.',
    path: collection,
    access: V1_ACCESS,
    params: VulnerabilityPath,
    style: 'v1',
    list: commentList,
    usualSort: { order: 'createdAt' },
    within: async ({ db, caller }, { id }) => {
      await findVulnerability(db, caller, id);
      return { vulnerabilityId: [id] };
    },
    schema: CommentBody,
    row: commentBody,
  });

const declareCreateComment = ({ clock }: Context) =>
  operation({
    id: 'createComment',
    number: 25,
    summary: 'Comment on a vulnerability',
    description: 'Adds a comment to a vulnerability.',
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    params: VulnerabilityPath,
    body: NewCommentBody,
    bodyLimit: MEDIUM_BODY,
    answers: { 201: { description: 'The comment.', schema: CommentBody } },
    versioned: true,
    repeats: true,
    handler: ({ caller, params: { id }, body: { text, internal = false }, change }) =>
      change(async (tx) => {
        const comment = await createComment(tx, { actor: caller, now: clock() }, id, { text, internal });
        return versioned(comment.version, commentBody(comment));
      }),
  });

const declareUpdateComment = ({ clock, db }: Context) =>
  operation({
    id: 'updateComment',
    number: 26,
    summary: 'Edit a comment',
    description: 'Changes a comment. For its author. What is absent stays as it is.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: CommentPath,
    body: CommentChangeBody,
    bodyLimit: MEDIUM_BODY,
    answers: { 200: { description: 'The comment as it is now.', schema: CommentBody } },
    versioned: true,
    async handler({ caller, expected, params: { id, comment_id: commentId }, body }) {
      const act = { actor: caller, now: clock() };
      const of = { vulnerabilityId: id, id: commentId };
      const comment = await db.write((tx) => updateComment(tx, act, of, body, expected));
      return versioned(comment.version, commentBody(comment));
    },
  });

const declareDeleteComment = ({ clock, db }: Context) =>
  operation({
    id: 'deleteComment',
    number: 26,
    summary: 'Remove a comment',
    description: 'Removes a comment. For its author and admins; the timeline keeps that there was one.',
    method: 'DELETE',
    path,
    access: V1_ACCESS,
    params: CommentPath,
    answers: { 204: { description: 'The comment is removed.' } },
    versioned: true,
    handler: ({ caller, expected, params: { id, comment_id: commentId } }) =>
      db.write((tx) =>
        deleteComment(tx, { actor: caller, now: clock() }, { vulnerabilityId: id, id: commentId }, expected),
      ),
  });

function commentBody({ id, text, internal, createdAt, updatedAt, user }: Comment) {
  return {
    id,
    text,
    internal,
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
    user,
    body: text,
    User: user,
  };
}

export const COMMENT_OPERATIONS = [
  declareListComments,
  declareCreateComment,
  declareUpdateComment,
  declareDeleteComment,
];
