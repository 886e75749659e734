import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { ASSESSMENT_UID } from '../../domain/assessments/assessments.ts';
import { testingHours } from '../../domain/assessments/testing-hours.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { operation } from '../../http/operation.ts';
import { DateTime } from '../../http/schemas.ts';
import { UNKNOWN_ID } from '../../http/validation.ts';
import { V1_ACCESS } from './row-ids.ts';

/** What cannot be such an id is one that no assessment has: 404. */
const AssessmentPath = Type.Object({
  id: Type.String({
    pattern: ASSESSMENT_UID.source,
    maxLength: 50,
    [UNKNOWN_ID]: '',
    description: 'The id of an assessment.',
    examples: ['acme-web-2026'],
  }),
});

const TestingHours = Type.Object(
  {
    stats_total: Type.Number({ description: 'Hours, two decimals.', examples: [37.25] }),
    from: DateTime,
    to: DateTime,
  },
  { title: 'Testing hours' },
);

const declareGetTestingHours = ({ clock, db }: Context) =>
  operation({
    id: 'getTestingHours',
    number: 7,
    summary: 'Get testing hours for an assessment',
    description: 'Adds up the hours that testers logged; a session that runs counts until now.',
    method: 'GET',
    path: '/assessments/:id/testing_hours',
    access: V1_ACCESS,
    params: AssessmentPath,
    answers: { 200: { description: 'The testing hours.', schema: TestingHours } },
    async handler({ caller, params }) {
      const { total, from, to } = await testingHours(db.read, caller, params.id, clock());
      return { stats_total: total, from: isoTime(from), to: isoTime(to) };
    },
  });

export const ASSESSMENT_OPERATIONS = [declareGetTestingHours];
