import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { requireVisibleVulnerability } from '../../domain/vulnerabilities/lock-vulnerability.ts';
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
import { operation, operationsOf } from '../../http/operation.ts';
import { DateTimeSchema, nullable, textSchema, nullableTextSchema } from '../../http/schemas.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { NullableUserRefSchema, markdownSchema } from '../common-schemas.ts';
import { paramsSchema, V1_ACCESS } from '../v1-params.ts';

const collection = '/vulnerabilities/:vulnerability_id/patch_verifications';
const path = `${collection}/:verification_id`;
/** A vulnerability that is still open when the examples are run in their order. */
const VULNERABILITY_PARAM = ['The id of a vulnerability.', 3] as const;
const VulnerabilityParamsSchema = paramsSchema({ vulnerability_id: VULNERABILITY_PARAM });
/** A vulnerability with a pending retest in the demo data. */
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
    description: 'Lists the retests of a vulnerability, oldest first.',
    path: collection,
    access: V1_ACCESS,
    params: VulnerabilityParamsSchema,
    style: 'v1',
    list: retestList,
    defaultSort: { sort: 'createdAt' },
    scope: async ({ db, caller }, { vulnerability_id: id }) => {
      await requireVisibleVulnerability(db, caller, id);
      return { vulnerabilityId: [id] };
    },
    schema: RetestSchema,
    toRow: toRetestBody,
  });

const requestRetestOperation = ({ clock }: Context) =>
  operation({
    id: 'requestRetest',
    number: 28,
    summary: 'Request a retest',
    description:
      'Asks the testers to verify the fix, and moves the vulnerability to 4 Pending Verification. Returns 409 if a retest is already pending or the vulnerability is closed.',
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    params: VulnerabilityParamsSchema,
    body: NewRetestSchema,
    bodyLimit: MEDIUM_BODY_LIMIT,
    responses: { 201: { description: 'The requested retest.', schema: RetestSchema } },
    versioned: true,
    idempotency: true,
    handler: ({ caller, params: { vulnerability_id: id }, body: { message }, writeOnce }) =>
      writeOnce(async (tx) => {
        const retest = await requestRetest(tx, { actor: caller, now: clock() }, id, message);
        return versionedResult(retest.version, toRetestBody(retest));
      }),
  });

const decideRetestOperation = ({ clock }: Context) =>
  operation({
    id: 'decideRetest',
    number: 29,
    summary: 'Record the result of a retest',
    description:
      'Records the result of a pending retest: `verified` moves the vulnerability to 5 Fixed, `failed` to 3 Fix In Progress, and `blocked` and `cancelled` back to its previous status. A vulnerability that has left 4 Pending Verification keeps its status. Requires staff or, unless staff reported the vulnerability, a user who may triage it and had entered a testing session of at least a minute of their own on the assessment before. Who requested the retest can only cancel it; admins can cancel it too.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: RetestParamsSchema,
    body: RetestDecisionSchema,
    bodyLimit: MEDIUM_BODY_LIMIT,
    responses: { 200: { description: 'The updated retest.', schema: RetestSchema } },
    versioned: true,
    async handler({ caller, ifMatch, params, body, write }) {
      const by = { actor: caller, now: clock() };
      const retestKey = { vulnerabilityId: params.vulnerability_id, id: params.verification_id };
      const retest = await write((tx) => decideRetest(tx, by, retestKey, body, ifMatch));
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

export default operationsOf('v1', [listRetestsOperation, requestRetestOperation, decideRetestOperation]);
