import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { findVisibleVulnerability } from '../../domain/vulnerabilities/lock-vulnerability.ts';
import {
  decideRetest,
  RETEST_DECISIONS,
  requestRetest,
  type Retest,
  RETEST_STATUSES,
  retestList,
} from '../../domain/vulnerabilities/retests.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { MEDIUM_BODY_LIMIT } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { DateTimeSchema, nullable, textSchema, nullableTextSchema } from '../../http/schemas.ts';
import { versionedResult } from '../../http/etags.ts';
import { NullableUserRefSchema } from '../v1/named-users.ts';
import { paramsSchema, V1_ACCESS } from '../v1-params.ts';
import { markdownSchema } from '../common-schemas.ts';

const collection = '/vulnerabilities/:vulnerability_id/patch_verifications';
const path = `${collection}/:verification_id`;
/** One that is open when the operations are tried in their order. */
const VULNERABILITY_PARAM = ['The id of a vulnerability.', 3] as const;
const VulnerabilityParamsSchema = paramsSchema({ vulnerability_id: VULNERABILITY_PARAM });
/** One whose retest waits, in the demo. */
const RetestParamsSchema = paramsSchema({
  vulnerability_id: [VULNERABILITY_PARAM[0], 4],
  verification_id: ['The id of a retest.', 1],
});

const RetestSchema = Type.Object(
  {
    id: Type.Integer(),
    message: textSchema('Fixed in build 4711; please look again.'),
    status: Type.Unsafe<Retest['status']>({ type: 'string', enum: [...RETEST_STATUSES] }),
    created_at: DateTimeSchema,
    user: NullableUserRefSchema,
    decided_at: nullable(DateTimeSchema),
    decided_by: NullableUserRefSchema,
    decision_message: nullableTextSchema('It cannot be exploited any more.'),
  },
  { title: 'Retest' },
);

const NewRetestSchema = Type.Object(
  { message: markdownSchema('Fixed in build 4711; please look again.') },
  { title: 'New retest' },
);

const RetestDecisionSchema = Type.Object(
  {
    status: Type.Unsafe<(typeof RETEST_DECISIONS)[number]>({
      type: 'string',
      enum: [...RETEST_DECISIONS],
      examples: ['verified'],
    }),
    message: Type.Optional(markdownSchema('It cannot be exploited any more.')),
  },
  { title: 'Retest decision' },
);

const listRetestsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listRetests',
    number: 27,
    summary: 'List retests',
    description: 'The retests of a vulnerability, oldest first.',
    path: collection,
    access: V1_ACCESS,
    params: VulnerabilityParamsSchema,
    style: 'v1',
    list: retestList,
    defaultSort: { sort: 'createdAt' },
    scope: async ({ db, caller }, { vulnerability_id: id }) => {
      await findVisibleVulnerability(db, caller, id);
      return { vulnerabilityId: [id] };
    },
    schema: RetestSchema,
    toRow: toRetestBody,
  });

const requestRetestOperation = ({ clock }: Context) =>
  operation({
    id: 'requestRetest',
    number: 28,
    summary: 'Ask for a retest',
    description:
      'Asks testers to see whether the fix holds, and moves the vulnerability to 4 Pending Verification. A 409 while one is asked for, and of a vulnerability that is closed.',
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    params: VulnerabilityParamsSchema,
    body: NewRetestSchema,
    bodyLimit: MEDIUM_BODY_LIMIT,
    responses: { 201: { description: 'The retest.', schema: RetestSchema } },
    versioned: true,
    idempotency: true,
    handler: ({ caller, params: { vulnerability_id: id }, body: { message }, change }) =>
      change(async (tx) => {
        const retest = await requestRetest(tx, { actor: caller, now: clock() }, id, message);
        return versionedResult(retest.version, toRetestBody(retest));
      }),
  });

const decideRetestOperation = ({ clock, db }: Context) =>
  operation({
    id: 'decideRetest',
    number: 29,
    summary: 'Decide a retest',
    description:
      'Decides a retest that is asked for: `verified` moves the vulnerability to 5 Fixed, `failed` to 3 Fix In Progress, `blocked` and `cancelled` back to where it was; one that has left 4 Pending Verification stays. For staff, and users with access who entered a testing session on the assessment before; who asked for it and admins may cancel it.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: RetestParamsSchema,
    body: RetestDecisionSchema,
    bodyLimit: MEDIUM_BODY_LIMIT,
    responses: { 200: { description: 'The retest as it is now.', schema: RetestSchema } },
    versioned: true,
    async handler({ caller, ifMatch, params, body }) {
      const act = { actor: caller, now: clock() };
      const of = { vulnerabilityId: params.vulnerability_id, id: params.verification_id };
      const retest = await db.write((tx) => decideRetest(tx, act, of, body, ifMatch));
      return versionedResult(retest.version, toRetestBody(retest));
    },
  });

function toRetestBody(retest: Retest) {
  const { id, message, status, createdAt, user, decidedAt, decidedBy, decisionMessage } = retest;
  return {
    id,
    message,
    status,
    created_at: formatTimestamp(createdAt),
    user,
    decided_at: decidedAt === null ? null : formatTimestamp(decidedAt),
    decided_by: decidedBy,
    decision_message: decisionMessage,
  };
}

export const RETEST_OPERATIONS = [listRetestsOperation, requestRetestOperation, decideRetestOperation];
