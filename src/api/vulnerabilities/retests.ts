import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { findVulnerability } from '../../domain/vulnerabilities/lock-vulnerability.ts';
import {
  decideRetest,
  DECISIONS,
  requestRetest,
  type Retest,
  RETEST_STATUSES,
  retestList,
} from '../../domain/vulnerabilities/retests.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { MEDIUM_BODY } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { DateTime, orNull, storedText, unknownText } from '../../http/schemas.ts';
import { versioned } from '../../http/etags.ts';
import { NamedUserOrNull } from '../v1/named-users.ts';
import { pathOf, V1_ACCESS } from '../v1-params.ts';
import { markdownText } from '../common-schemas.ts';

const collection = '/vulnerabilities/:vulnerability_id/patch_verifications';
const path = `${collection}/:verification_id`;
/** One that is open when the operations are tried in their order. */
const Vulnerability = ['The id of a vulnerability.', 3] as const;
const VulnerabilityPath = pathOf({ vulnerability_id: Vulnerability });
/** One whose retest waits, in the demo. */
const RetestPath = pathOf({
  vulnerability_id: [Vulnerability[0], 4],
  verification_id: ['The id of a retest.', 1],
});

const RetestBody = Type.Object(
  {
    id: Type.Integer(),
    message: storedText('Fixed in build 4711; please look again.'),
    status: Type.Unsafe<Retest['status']>({ type: 'string', enum: [...RETEST_STATUSES] }),
    created_at: DateTime,
    user: NamedUserOrNull,
    decided_at: orNull(DateTime),
    decided_by: NamedUserOrNull,
    decision_message: unknownText('It cannot be exploited any more.'),
  },
  { title: 'Retest' },
);

const NewRetestBody = Type.Object(
  { message: markdownText('Fixed in build 4711; please look again.') },
  { title: 'New retest' },
);

const DecisionBody = Type.Object(
  {
    status: Type.Unsafe<(typeof DECISIONS)[number]>({
      type: 'string',
      enum: [...DECISIONS],
      examples: ['verified'],
    }),
    message: Type.Optional(markdownText('It cannot be exploited any more.')),
  },
  { title: 'Retest decision' },
);

const declareListRetests = (context: Context) =>
  listOperation(context, {
    id: 'listRetests',
    number: 27,
    summary: 'List retests',
    description: 'The retests of a vulnerability, oldest first.',
    path: collection,
    access: V1_ACCESS,
    params: VulnerabilityPath,
    style: 'v1',
    list: retestList,
    usualSort: { order: 'createdAt' },
    within: async ({ db, caller }, { vulnerability_id: id }) => {
      await findVulnerability(db, caller, id);
      return { vulnerabilityId: [id] };
    },
    schema: RetestBody,
    row: retestBody,
  });

const declareRequestRetest = ({ clock }: Context) =>
  operation({
    id: 'requestRetest',
    number: 28,
    summary: 'Ask for a retest',
    description:
      'Asks testers to see whether the fix holds, and moves the vulnerability to 4 Pending Verification. A 409 while one is asked for, and of a vulnerability that is closed.',
    method: 'POST',
    path: collection,
    access: V1_ACCESS,
    params: VulnerabilityPath,
    body: NewRetestBody,
    bodyLimit: MEDIUM_BODY,
    answers: { 201: { description: 'The retest.', schema: RetestBody } },
    versioned: true,
    repeats: true,
    handler: ({ caller, params: { vulnerability_id: id }, body: { message }, change }) =>
      change(async (tx) => {
        const retest = await requestRetest(tx, { actor: caller, now: clock() }, id, message);
        return versioned(retest.version, retestBody(retest));
      }),
  });

const declareDecideRetest = ({ clock, db }: Context) =>
  operation({
    id: 'decideRetest',
    number: 29,
    summary: 'Decide a retest',
    description:
      'Decides a retest that is asked for: `verified` moves the vulnerability to 5 Fixed, `failed` to 3 Fix In Progress, `blocked` and `cancelled` back to where it was; one that has left 4 Pending Verification stays. For staff, and users with access who entered a testing session on the assessment before; who asked for it and admins may cancel it.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: RetestPath,
    body: DecisionBody,
    bodyLimit: MEDIUM_BODY,
    answers: { 200: { description: 'The retest as it is now.', schema: RetestBody } },
    versioned: true,
    async handler({ caller, expected, params, body }) {
      const act = { actor: caller, now: clock() };
      const of = { vulnerabilityId: params.vulnerability_id, id: params.verification_id };
      const retest = await db.write((tx) => decideRetest(tx, act, of, body, expected));
      return versioned(retest.version, retestBody(retest));
    },
  });

function retestBody(retest: Retest) {
  const { id, message, status, createdAt, user, decidedAt, decidedBy, decisionMessage } = retest;
  return {
    id,
    message,
    status,
    created_at: isoTime(createdAt),
    user,
    decided_at: decidedAt === null ? null : isoTime(decidedAt),
    decided_by: decidedBy,
    decision_message: decisionMessage,
  };
}

export const RETEST_OPERATIONS = [declareListRetests, declareRequestRetest, declareDecideRetest];
