import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { testingHours } from '../../domain/assessments/testing-hours.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { operation } from '../../http/operation.ts';
import { DateTime } from '../../http/schemas.ts';
import { AssessmentPath } from './assessment-schema.ts';
import { V1_ACCESS } from '../v1-params.ts';

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

export const TESTING_HOURS_OPERATIONS = [declareGetTestingHours];
