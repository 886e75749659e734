import { describe, expect, it } from 'vitest';
import type { TimelineEntry, VulnerabilityComment } from '../../client/src/openapi-types.ts';
import { discussionItems } from '../../console/src/pages/vulnerability/discussion-items.ts';
import { fieldChanges } from '../../console/src/pages/vulnerability/timeline-values.ts';

const ADA = { id: 1, name: 'Ada', email: 'ada@acme.example' };
const BO = { id: 2, name: 'Bo', email: 'bo@acme.example' };

let lastId = 0;
const entry = (minute: number, members: Partial<TimelineEntry>): TimelineEntry => ({
  id: (lastId += 1),
  kind: 'tags',
  at: new Date(Date.UTC(2026, 10, 2, 10, minute)).toISOString(),
  user: ADA,
  before: null,
  after: null,
  comment: null,
  ...members,
});
const comment = (id: number) => ({ id, text: `Comment ${id}` }) as VulnerabilityComment;
/** The number of changes of each item, or the comment. */
const shapeOf = (entries: TimelineEntry[], comments: VulnerabilityComment[] = [], pendingRetest?: number) =>
  discussionItems(entries, comments, pendingRetest).map((item) =>
    item.kind === 'comment' ? item.comment.text : `${item.entries.length} ${item.message}`.trim(),
  );

describe('The discussion', () => {
  it('has the changes of one person within five minutes on one line', () => {
    const changes = [
      entry(0, { kind: 'created' }),
      entry(1, {}),
      entry(3, {}),
      entry(6, {}),
      entry(7, {}),
      entry(8, { user: BO }),
      entry(8, {}),
    ];
    expect(shapeOf(changes)).toEqual(['1', '3', '1', '1', '1']);
  });

  it('has comments in the order of the changes, and says which were deleted', () => {
    const changes = [
      entry(1, {}),
      entry(2, { kind: 'comment', comment: { id: 5, text: 'Old text' } }),
      entry(3, {}),
      entry(9, { kind: 'comment', comment: { id: 6, text: null } }),
    ];
    expect(shapeOf(changes, [comment(5)])).toEqual(['1', 'Comment 5', '1', '1']);
  });

  it('has the messages of retests, but that of the requested one, which is above the text', () => {
    const request = (minute: number, id: number, message: string) => [
      entry(minute, { kind: 'retest', after: { id, status: 'requested', message } }),
      entry(minute, { kind: 'status', after: { status_id: 4 } }),
    ];
    const changes = [
      ...request(1, 8, 'Build 1.'),
      entry(2, { kind: 'retest', user: BO, after: { id: 8, status: 'failed', message: 'No.' } }),
      entry(2, { kind: 'status', user: BO, after: { status_id: 3 } }),
      entry(3, { user: BO }),
      ...request(20, 9, 'Build 2.'),
    ];
    expect(shapeOf(changes, [], 9)).toEqual(['1 Build 1.', '2 No.', '1', '1']);
    expect(shapeOf(changes).at(-1)).toBe('1 Build 2.');
  });

  it('lists the changed fields that a line only names', () => {
    expect(
      fieldChanges(
        entry(1, {
          kind: 'edited',
          before: { impact: '', due_on: null },
          after: { impact: 'Much.', due_on: '2027-01-01' },
        }),
      ),
    ).toEqual([{ name: 'Impact', before: '', after: 'Much.' }]);
    expect(
      fieldChanges(entry(1, { kind: 'edited', before: { draft: true }, after: { draft: false } })),
    ).toEqual([]);
  });
});
