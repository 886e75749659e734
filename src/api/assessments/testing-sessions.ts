import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { requireAssessment } from '../../domain/assessments/find-assessment.ts';
import {
  correctSession,
  deleteSession,
  startOrLogSession,
} from '../../domain/assessments/update-testing-session.ts';
import {
  type TestingSessionView,
  testingSessionList,
} from '../../domain/assessments/testing-session-list.ts';
import { invalid } from '../../domain/shared/errors.ts';
import { isoTime, momentOf } from '../../domain/shared/time.ts';
import { MEDIUM_BODY } from '../../http/json-bodies.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operation } from '../../http/operation.ts';
import { DateTime, orNull, storedText, unknownText } from '../../http/schemas.ts';
import { versioned } from '../../http/etags.ts';
import { AssessmentPath } from './assessment-schema.ts';
import { idPath, V1_ACCESS } from '../v1-params.ts';

const ofAssessment = '/assessments/:id/testing_sessions';
const collection = '/testing_sessions';
const path = `${collection}/:id`;
const ID = 'The id of a testing session.';
const MAX_NOTE = 65_536;

const SessionBody = Type.Object(
  {
    id: Type.Integer(),
    assessment_id: storedText('acme-web-2026'),
    tester: Type.Object(
      {
        id: Type.Integer(),
        name: unknownText('Ada Example'),
        email: storedText('ada@acme.example'),
      },
      { title: 'Tester' },
    ),
    started_at: DateTime,
    ended_at: Type.Unsafe<string | null>({ ...orNull(DateTime), description: '`null` while it runs.' }),
    hours: Type.Number({
      minimum: 0,
      description: 'Two decimals; until now while it runs.',
      examples: [2.5],
    }),
    note: storedText('Sign-in and password reset'),
  },
  { title: 'Testing session' },
);

const moment = (example: string) =>
  Type.String({
    format: 'date-time',
    maxLength: 64,
    description: 'A moment without an offset is UTC.',
    examples: [example],
  });
const note = Type.String({ maxLength: MAX_NOTE, examples: ['Sign-in and password reset'] });

const NewSessionBody = Type.Object(
  {
    started_at: Type.Optional(moment('2026-01-20T09:00:00Z')),
    ended_at: Type.Optional(moment('2026-01-20T11:30:00Z')),
    note: Type.Optional(note),
    tester_id: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Whose session it is, for admins; the caller unless told.',
        examples: [1],
      }),
    ),
  },
  { title: 'New testing session' },
);

const SessionChangeBody = Type.Object(
  {
    started_at: Type.Optional(moment('2026-01-20T09:15:00Z')),
    ended_at: Type.Optional(orNull(moment('2026-01-20T11:30:00Z'))),
    note: Type.Optional(orNull(note)),
  },
  { title: 'Testing session change' },
);

const INPUTS = { startedAt: 'started_at', endedAt: 'ended_at', testerId: 'tester_id' };

const FILTERS = {
  testerId: 'Of these testers.',
  running: 'That run now, or that do not.',
  since: 'Started at this moment or later.',
  until: 'Started before this moment.',
};

const declareListAllSessions = (context: Context) =>
  listOperation(context, {
    id: 'listTestingSessions',
    number: 41,
    summary: 'List the testing sessions of all assessments',
    description: 'Of every assessment that you have access to, newest first.',
    path: collection,
    access: V1_ACCESS,
    style: 'v1',
    list: testingSessionList,
    filters: { assessmentId: 'Of these assessments.', ...FILTERS },
    usualSort: { order: 'startedAt', descending: true },
    schema: SessionBody,
    row: sessionBody,
    download: { action: 'testing-session.export', filename: 'testing-sessions' },
  });

const declareListSessions = (context: Context) =>
  listOperation(context, {
    id: 'listAssessmentTestingSessions',
    number: 48,
    summary: 'List the testing sessions of an assessment',
    description: 'For whoever has access to it, newest first.',
    path: ofAssessment,
    access: V1_ACCESS,
    params: AssessmentPath,
    style: 'v1',
    list: testingSessionList,
    filters: FILTERS,
    usualSort: { order: 'startedAt', descending: true },
    within: async ({ db, caller }, { id }) => ({
      assessmentId: [(await requireAssessment(db, caller, id)).uid],
    }),
    schema: SessionBody,
    row: sessionBody,
  });

const declareStartSession = ({ clock }: Context) =>
  operation({
    id: 'createTestingSession',
    number: 49,
    summary: 'Start or log a testing session',
    description:
      'Without times, starts one now (409 while one of the tester runs on the assessment, and while that is not active); with both, logs one that is over. One that runs ends by itself after 24 hours. For oneself; admins name others who have access.',
    method: 'POST',
    path: ofAssessment,
    access: V1_ACCESS,
    params: AssessmentPath,
    body: NewSessionBody,
    bodyLimit: MEDIUM_BODY,
    inputs: INPUTS,
    answers: { 201: { description: 'The testing session was made.', schema: SessionBody } },
    versioned: true,
    repeats: true,
    handler({ caller, change, params: { id }, body }) {
      const input = {
        startedAt: timeOf('startedAt', body.started_at),
        endedAt: timeOf('endedAt', body.ended_at),
        note: body.note,
        testerId: body.tester_id,
      };
      return change(async (tx) =>
        sessionAnswer(await startOrLogSession(tx, { actor: caller, now: clock() }, id, input)),
      );
    },
  });

const declareCorrectSession = ({ clock, db }: Context) =>
  operation({
    id: 'updateTestingSession',
    number: 50,
    summary: 'Stop or correct a testing session',
    description:
      'What is absent stays. `ended_at` stops one that runs; `null` has it run again. For its tester and admins.',
    method: 'PATCH',
    path,
    access: V1_ACCESS,
    params: idPath(ID, 1),
    body: SessionChangeBody,
    bodyLimit: MEDIUM_BODY,
    inputs: INPUTS,
    answers: { 200: { description: 'The testing session as it is now.', schema: SessionBody } },
    versioned: true,
    async handler({ caller, expected, params: { id }, body }) {
      const act = { actor: caller, now: clock() };
      const change = {
        startedAt: timeOf('startedAt', body.started_at),
        endedAt: body.ended_at === null ? null : timeOf('endedAt', body.ended_at),
        note: body.note === null ? '' : body.note,
      };
      return sessionAnswer(await db.write((tx) => correctSession(tx, act, id, change, expected)));
    },
  });

const declareDeleteSession = ({ clock, db }: Context) =>
  operation({
    id: 'deleteTestingSession',
    number: 51,
    summary: 'Delete a testing session',
    description: 'For its tester and admins.',
    method: 'DELETE',
    path,
    access: V1_ACCESS,
    params: idPath(ID, 2),
    answers: { 204: { description: 'The testing session is deleted.' } },
    versioned: true,
    handler: ({ caller, expected, params: { id } }) =>
      db.write((tx) => deleteSession(tx, { actor: caller, now: clock() }, id, expected)),
  });

export const TESTING_SESSION_OPERATIONS = [
  declareListAllSessions,
  declareListSessions,
  declareStartSession,
  declareCorrectSession,
  declareDeleteSession,
];

/** @throws Failure `invalid` for a text that is no moment */
function timeOf(property: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = momentOf(text);
  if (time === undefined)
    throw invalid({ property, message: 'must be a date and time such as 2026-11-21T10:30:00Z', value: text });
  return time;
}

function sessionAnswer(session: TestingSessionView) {
  return versioned(session.version, sessionBody(session));
}

function sessionBody(session: TestingSessionView) {
  const { id, assessment, tester, startedAt, endedAt, hours, note: text } = session;
  return {
    id,
    assessment_id: assessment,
    tester: { id: tester.id, name: tester.name, email: tester.email },
    started_at: isoTime(startedAt),
    ended_at: endedAt === null ? null : isoTime(endedAt),
    hours,
    note: text,
  };
}
