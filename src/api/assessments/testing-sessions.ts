import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { requireAssessment } from '../../domain/assessments/find-assessment.ts';
import {
  updateTestingSession,
  deleteTestingSession,
  createTestingSession,
} from '../../domain/assessments/update-testing-session.ts';
import {
  type SessionFields,
  type TestingSessionView,
  testingSessionList,
} from '../../domain/assessments/testing-session-list.ts';
import { readTestingHours } from '../../domain/assessments/testing-hours.ts';
import { invalidInput } from '../../domain/shared/errors.ts';
import { formatTimestamp, parseTimestamp } from '../../domain/shared/time.ts';
import { MEDIUM_BODY_LIMIT } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import {
  DateTimeSchema,
  MAX_RESULTS,
  nullable,
  textSchema,
  nullableTextSchema,
  emailSchema,
} from '../../http/schemas.ts';
import { versionedResult } from '../../http/operation-result.ts';
import { AssessmentParamsSchema } from './assessment-schema.ts';
import { NullableUserRefSchema } from '../common-schemas.ts';
import { idParams, V1_ACCESS } from '../v1-params.ts';

const assessmentCollection = '/assessments/:id/testing_sessions';
const collection = '/testing_sessions';
const path = `${collection}/:id`;
const ID = 'The id of a testing session.';
const MAX_NOTE_LENGTH = 65_536;

const TestingSessionSchema = Type.Object(
  {
    id: Type.Integer(),
    assessment_id: textSchema('acme-web-2026'),
    tester: Type.Object(
      { id: Type.Integer(), name: nullableTextSchema('Ada Example'), email: emailSchema('ada@acme.example') },
      { title: 'Tester' },
    ),
    started_at: DateTimeSchema,
    ended_at: Type.Unsafe<string | null>({
      ...nullable(DateTimeSchema),
      description: '`null` while the session is running.',
    }),
    hours: Type.Number({
      minimum: 0,
      description: 'Hours, with two decimal places. A running session counts until now.',
      examples: [2.5],
    }),
    note: textSchema('Sign-in and password reset'),
    edited: Type.Boolean({
      description: 'Whether a time that had been entered, or the note, was changed afterwards.',
    }),
  },
  { title: 'Testing session' },
);

const SessionFieldsSchema = Type.Partial(
  Type.Pick(TestingSessionSchema, ['started_at', 'ended_at', 'note']),
  { title: 'Fields of a testing session', description: 'Those that changed.' },
);

const TestingSessionWithEditsSchema = Type.Object(
  {
    ...TestingSessionSchema.properties,
    edits: Type.Array(
      Type.Object(
        {
          at: DateTimeSchema,
          user: NullableUserRefSchema,
          before: SessionFieldsSchema,
          after: SessionFieldsSchema,
        },
        { title: 'Edit of a testing session' },
      ),
      { maxItems: MAX_RESULTS, description: 'What was corrected, oldest first.' },
    ),
  },
  { title: 'Testing session with edits' },
);

const timestampSchema = (example: string) =>
  Type.String({
    format: 'date-time',
    maxLength: 64,
    description: 'A time without an offset is UTC.',
    examples: [example],
  });
const noteSchema = Type.String({ maxLength: MAX_NOTE_LENGTH, examples: ['Sign-in and password reset'] });

const NewTestingSessionSchema = Type.Object(
  {
    started_at: Type.Optional(timestampSchema('2026-01-20T09:00:00Z')),
    ended_at: Type.Optional(timestampSchema('2026-01-20T11:30:00Z')),
    note: Type.Optional(noteSchema),
    tester_id: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'The id of the tester. Defaults to the caller; only admins can name another user. Client users can name staff only if they are assigned to their organization or have worked for it.',
        examples: [1],
      }),
    ),
  },
  { title: 'New testing session' },
);

const UpdateTestingSessionSchema = Type.Object(
  {
    started_at: Type.Optional(timestampSchema('2026-01-20T09:15:00Z')),
    ended_at: Type.Optional(nullable(timestampSchema('2026-01-20T11:30:00Z'))),
    note: Type.Optional(nullable(noteSchema)),
  },
  { title: 'Testing session change' },
);

const INPUTS = { startedAt: 'started_at', endedAt: 'ended_at', testerId: 'tester_id' };

const FILTERS = {
  testerId: 'Return only sessions of these testers.',
  running: 'Return only running sessions, or exclude them.',
  since: 'Return only sessions started at or after this time.',
  until: 'Return only sessions started before this time.',
};

const listTestingSessionsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listTestingSessions',
    number: 41,
    summary: 'List testing sessions of all assessments',
    description:
      'Lists the testing sessions of every assessment that the caller has access to, newest first.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: testingSessionList,
    filters: { assessmentId: 'Return only sessions of these assessments.', ...FILTERS },
    defaultSort: { sort: 'startedAt', descending: true },
    schema: TestingSessionSchema,
    toRow: toTestingSessionBody,
    download: { action: 'testing-session.export', filename: 'testing-sessions' },
  });

const listAssessmentTestingSessionsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listAssessmentTestingSessions',
    number: 48,
    summary: 'List testing sessions of an assessment',
    description: 'Requires access to the assessment. Sorted newest first.',
    path: assessmentCollection,
    access: V1_ACCESS,
    params: AssessmentParamsSchema,
    style: 'v1',
    list: testingSessionList,
    filters: FILTERS,
    defaultSort: { sort: 'startedAt', descending: true },
    scope: async ({ db, caller }, { id }) => ({
      assessmentId: [(await requireAssessment(db, caller, id, 'read_vulnerabilities')).uid],
      withEdits: true,
    }),
    schema: TestingSessionWithEditsSchema,
    toRow: toTestingSessionWithEditsBody,
  });

const createTestingSessionOperation = ({ clock }: Context) =>
  operation({
    id: 'createTestingSession',
    number: 49,
    summary: 'Start or log a testing session',
    description:
      'Without times, starts a session now; returns 409 if the tester already has a running session on the assessment, or if the assessment is not active. With both times, logs a finished session. A running session ends automatically after 24 hours. Users log their own sessions; admins can log sessions for other users with access.',
    method: 'POST',
    path: assessmentCollection,
    access: V1_ACCESS,
    params: AssessmentParamsSchema,
    body: NewTestingSessionSchema,
    bodyLimit: MEDIUM_BODY_LIMIT,
    inputs: INPUTS,
    responses: { 201: { description: 'The created testing session.', schema: TestingSessionSchema } },
    versioned: true,
    idempotency: true,
    handler({ caller, writeOnce, params: { id }, body }) {
      const input = {
        startedAt: parseTimeField('startedAt', body.started_at),
        endedAt: parseTimeField('endedAt', body.ended_at),
        note: body.note,
        testerId: body.tester_id,
      };
      return writeOnce(async (tx) =>
        toTestingSessionResult(await createTestingSession(tx, { actor: caller, now: clock() }, id, input)),
      );
    },
  });

const updateTestingSessionOperation = ({ clock }: Context) =>
  operation({
    id: 'updateTestingSession',
    number: 50,
    summary: 'Stop or update a testing session',
    description:
      'An absent property is unchanged. `ended_at` stops a running session; `null` resumes it. Requires its tester or an admin.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: idParams(ID, 1),
    body: UpdateTestingSessionSchema,
    bodyLimit: MEDIUM_BODY_LIMIT,
    inputs: INPUTS,
    responses: { 200: { description: 'The updated testing session.', schema: TestingSessionSchema } },
    versioned: true,
    async handler({ caller, ifMatch, params: { id }, body, write }) {
      const by = { actor: caller, now: clock() };
      const change = {
        startedAt: parseTimeField('startedAt', body.started_at),
        endedAt: body.ended_at === null ? null : parseTimeField('endedAt', body.ended_at),
        note: body.note === null ? '' : body.note,
      };
      return toTestingSessionResult(await write((tx) => updateTestingSession(tx, by, id, change, ifMatch)));
    },
  });

const deleteTestingSessionOperation = ({ clock }: Context) =>
  operation({
    id: 'deleteTestingSession',
    number: 51,
    summary: 'Delete a testing session',
    description: 'Requires its tester or an admin.',
    method: 'DELETE',
    path,
    access: V1_ACCESS,
    params: idParams(ID, 2),
    responses: { 204: { description: 'The testing session was deleted.' } },
    versioned: true,
    handler: ({ caller, ifMatch, params: { id }, write }) =>
      write((tx) => deleteTestingSession(tx, { actor: caller, now: clock() }, id, ifMatch)),
  });

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

export default operationsOf('v1', [
  getTestingHoursOperation,
  listTestingSessionsOperation,
  listAssessmentTestingSessionsOperation,
  createTestingSessionOperation,
  updateTestingSessionOperation,
  deleteTestingSessionOperation,
]);

/** @throws DomainError `invalid` unless the text is a date and time */
function parseTimeField(property: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = parseTimestamp(text);
  if (time === undefined) throw invalidInput({ property, code: 'not-a-timestamp', value: text });
  return time;
}

function toTestingSessionResult(session: TestingSessionView) {
  return versionedResult(session.version, toTestingSessionBody(session));
}

function toTestingSessionBody(session: TestingSessionView) {
  const { id, assessment, tester, startedAt, endedAt, hours, note: text } = session;
  return {
    id,
    assessment_id: assessment,
    tester: { id: tester.id, name: tester.name, email: tester.email },
    started_at: formatTimestamp(startedAt),
    ended_at: endedAt === null ? null : formatTimestamp(endedAt),
    hours,
    note: text,
    edited: session.edited,
  };
}

function toTestingSessionWithEditsBody(session: TestingSessionView) {
  const edits = session.edits ?? [];
  return {
    ...toTestingSessionBody(session),
    edits: edits.map(({ at, user, before, after }) => ({
      at: formatTimestamp(at),
      user,
      before: toSessionFieldsBody(before),
      after: toSessionFieldsBody(after),
    })),
  };
}

function toSessionFieldsBody({ started_at: startedAt, ended_at: endedAt, note }: Partial<SessionFields>) {
  return {
    ...(startedAt === undefined ? {} : { started_at: formatTimestamp(startedAt) }),
    ...(endedAt === undefined ? {} : { ended_at: endedAt === null ? null : formatTimestamp(endedAt) }),
    ...(note === undefined ? {} : { note }),
  };
}
