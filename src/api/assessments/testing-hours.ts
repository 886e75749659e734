import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { readTestingHours } from '../../domain/assessments/testing-hours.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { DateTimeSchema } from '../../http/schemas.ts';
import { AssessmentParamsSchema } from './assessment-schema.ts';
import { V1_ACCESS } from '../v1-params.ts';

const TestingHoursSchema = Type.Object(
  {
    stats_total: Type.Number({ description: 'Hours, with two decimal places.', examples: [37.25] }),
    from: DateTimeSchema,
    to: DateTimeSchema,
  },
  { title: 'Testing hours' },
);

const getTestingHoursOperation = ({ clock, db }: Context) =>
  operation({
    id: 'getTestingHours',
    number: 7,
    summary: 'Get testing hours for an assessment',
    description: 'Returns the sum of the hours that testers logged. A running session counts until now.',
    method: 'GET',
    path: '/assessments/:id/testing_hours',
    access: V1_ACCESS,
    params: AssessmentParamsSchema,
    responses: { 200: { description: 'The testing hours.', schema: TestingHoursSchema } },
    async handler({ caller, params }) {
      const { total, from, to } = await readTestingHours(db.read, caller, params.id, clock());
      return { stats_total: total, from: formatTimestamp(from), to: formatTimestamp(to) };
    },
  });

export default operationsOf('v1', [getTestingHoursOperation]);
