import { Type } from 'typebox';
import type { Context } from '../../runtime/context.ts';
import { findVulnerability } from '../../domain/vulnerabilities/lock-vulnerability.ts';
import { TIMELINE_KINDS, type TimelineKind } from '../../domain/vulnerabilities/timeline.ts';
import { timelineList } from '../../domain/vulnerabilities/timeline-list.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { DateTime, orNull, unknownText } from '../../http/schemas.ts';
import { NamedUserOrNull } from '../v1/named-users.ts';
import { idPath, V1_ACCESS } from '../v1-params.ts';

const state = (description: string) =>
  Type.Unsafe<object | null>({ type: ['object', 'null'], additionalProperties: true, description });

const TimelineEntryBody = Type.Object(
  {
    id: Type.Integer({ description: 'Of one vulnerability; 0 is its creation.' }),
    at: DateTime,
    kind: Type.Unsafe<TimelineKind>({ type: 'string', enum: [...TIMELINE_KINDS] }),
    user: NamedUserOrNull,
    before: state('What changed, as it was.'),
    after: state('What changed, as it is since.'),
    comment: orNull(
      Type.Object(
        { id: Type.Integer(), text: unknownText('The fix is on the test system.') },
        { title: 'Comment of a timeline', description: '`text` is as it is now, `null` once removed.' },
      ),
    ),
  },
  { title: 'Timeline entry' },
);

const declareListTimeline = (context: Context) =>
  listOperation(context, {
    id: 'listTimeline',
    number: 31,
    summary: 'Read the timeline of a vulnerability',
    description:
      'What was done to a vulnerability, oldest first, as long as it lives. Internal comments are told to staff alone.',
    path: '/vulnerabilities/:id/timeline',
    access: V1_ACCESS,
    params: idPath('The id of a vulnerability.', 1),
    style: 'v1',
    log: true,
    list: timelineList,
    sorts: ['at'],
    usualSort: { order: 'at' },
    within: async ({ db, caller }, { id }) => {
      await findVulnerability(db, caller, id);
      return { vulnerabilityId: id };
    },
    schema: TimelineEntryBody,
    row: ({ at, ...entry }) => ({ ...entry, at: isoTime(at) }),
  });

export const TIMELINE_OPERATIONS = [declareListTimeline];
