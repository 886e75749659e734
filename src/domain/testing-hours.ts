import type { Actor } from '../auth/callers.ts';
import type { Transaction } from '../db/engine.ts';
import { recordChange } from './audit.ts';
import { ASSESSMENT_UID } from './assessments.ts';
import { invalid, missing } from './failure.ts';

/** Time that a tester worked on an assessment; milliseconds since 1970. */
export interface TestingSession {
  /** The uid of the assessment. */
  assessment: string;
  testerId: number;
  startedAt: number;
  /** `null` while it runs. */
  endedAt: number | null;
}

/**
 * Logs a session of a tester, who is platform staff or a user of the assessment's organization.
 * @throws Failure `missing` for the assessment or the tester, `invalid` for a session that ends before it starts
 */
export async function logTestingSession(
  tx: Transaction,
  actor: Actor,
  { assessment: uid, testerId, startedAt, endedAt }: TestingSession,
  now: number,
): Promise<{ id: number }> {
  if (endedAt !== null && endedAt < startedAt) {
    throw invalid({ property: 'endedAt', message: 'must not be before startedAt', value: endedAt });
  }
  const assessment = ASSESSMENT_UID.test(uid)
    ? await tx
        .selectFrom('assessments')
        .select(['id', 'organization_id'])
        .where('uid', '=', uid)
        .executeTakeFirst()
    : undefined;
  if (assessment === undefined) throw missing('assessment');
  const tester = await tx
    .selectFrom('users')
    .select(['uid', 'organization_id'])
    .where('id', '=', testerId)
    .executeTakeFirst();
  const foreign = tester?.organization_id !== null && tester?.organization_id !== assessment.organization_id;
  if (tester === undefined || foreign) throw missing('tester');
  const session = await tx
    .insertInto('testing_sessions')
    .values({ assessment_id: assessment.id, tester_id: testerId, started_at: startedAt, ended_at: endedAt })
    .returning('id')
    .executeTakeFirstOrThrow();
  await recordChange(tx, actor, {
    at: now,
    action: 'testing-session.log',
    object: ['testing-session', session.id],
    organizationId: assessment.organization_id,
    before: null,
    after: { assessment: uid, tester: tester.uid, started_at: startedAt, ended_at: endedAt },
  });
  return session;
}
