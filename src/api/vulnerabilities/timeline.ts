import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { findVisibleVulnerability } from '../../domain/vulnerabilities/lock-vulnerability.ts';
import { TIMELINE_KINDS, type TimelineKind } from '../../domain/vulnerabilities/timeline.ts';
import { timelineList } from '../../domain/vulnerabilities/timeline-list.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { DateTimeSchema, nullable, nullableTextSchema } from '../../http/schemas.ts';
import { NullableUserRefSchema } from '../v1/named-users.ts';
import { idParams, V1_ACCESS } from '../v1-params.ts';

const stateSchema = (description: string) =>
  Type.Unsafe<object | null>({ type: ['object', 'null'], additionalProperties: true, description });

const TimelineEntrySchema = Type.Object(
  {
    id: Type.Integer({ description: 'Of one vulnerability; 0 is its creation.' }),
    at: DateTimeSchema,
    kind: Type.Unsafe<TimelineKind>({ type: 'string', enum: [...TIMELINE_KINDS] }),
    user: NullableUserRefSchema,
    before: stateSchema('What changed, as it was.'),
    after: stateSchema('What changed, as it is since.'),
    comment: nullable(
      Type.Object(
        { id: Type.Integer(), text: nullableTextSchema('The fix is on the test system.') },
        { title: 'Comment of a timeline', description: '`text` is as it is now, `null` once removed.' },
      ),
    ),
  },
  { title: 'Timeline entry' },
);

const listTimelineOperation = (context: Context) =>
  listOperation(context, {
    id: 'listTimeline',
    number: 31,
    summary: 'Read the timeline of a vulnerability',
    description:
      'What was done to a vulnerability, oldest first, as long as it lives. Internal comments are told to staff alone.',
    path: '/vulnerabilities/:id/timeline',
    access: V1_ACCESS,
    params: idParams('The id of a vulnerability.', 1),
    style: 'v1',
    cursorOnly: true,
    list: timelineList,
    sorts: ['at'],
    defaultSort: { sort: 'at' },
    scope: async ({ db, caller }, { id }) => {
      await findVisibleVulnerability(db, caller, id);
      return { vulnerabilityId: id };
    },
    schema: TimelineEntrySchema,
    toRow: ({ at, ...entry }) => ({ ...entry, at: formatTimestamp(at) }),
  });

export const TIMELINE_OPERATIONS = [listTimelineOperation];
