import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { requireVisibleVulnerability } from '../../domain/vulnerabilities/lock-vulnerability.ts';
import { TIMELINE_KINDS, type TimelineKind } from '../../domain/vulnerabilities/timeline.ts';
import { timelineList } from '../../domain/vulnerabilities/timeline-list.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operationsOf } from '../../http/operation.ts';
import { DateTimeSchema, nullable, nullableTextSchema } from '../../http/schemas.ts';
import { NullableUserRefSchema } from '../common-schemas.ts';
import { idParams, V1_ACCESS } from '../v1-params.ts';

const stateSchema = (description: string) =>
  Type.Unsafe<object | null>({ type: ['object', 'null'], additionalProperties: true, description });

const TimelineEntrySchema = Type.Object(
  {
    id: Type.Integer({
      description: 'Sequence number within the vulnerability, starting at 0 for its creation.',
    }),
    at: DateTimeSchema,
    kind: Type.Unsafe<TimelineKind>({ type: 'string', enum: [...TIMELINE_KINDS] }),
    user: NullableUserRefSchema,
    before: stateSchema('The changed properties before the change.'),
    after: stateSchema('The changed properties after the change.'),
    comment: nullable(
      Type.Object(
        { id: Type.Integer(), text: nullableTextSchema('The fix is on the test system.') },
        {
          title: 'Comment of a timeline',
          description: '`text` is the current text; `null` if the comment was deleted.',
        },
      ),
    ),
  },
  { title: 'Timeline entry' },
);

const listTimelineOperation = (context: Context) =>
  listOperation(context, {
    id: 'listTimeline',
    number: 31,
    summary: 'List the timeline of a vulnerability',
    description:
      'Lists the changes to a vulnerability, oldest first, for as long as it exists. Only staff get internal comments.',
    path: '/vulnerabilities/:id/timeline',
    access: V1_ACCESS,
    params: idParams('The id of a vulnerability.', 1),
    style: 'v1',
    cursorOnly: true,
    list: timelineList,
    sorts: ['at'],
    defaultSort: { sort: 'at' },
    scope: async ({ db, caller }, { id }) => {
      await requireVisibleVulnerability(db, caller, id);
      return { vulnerabilityId: id };
    },
    schema: TimelineEntrySchema,
    toRow: ({ at, ...entry }) => ({ ...entry, at: formatTimestamp(at) }),
  });

export default operationsOf('v1', [listTimelineOperation]);
