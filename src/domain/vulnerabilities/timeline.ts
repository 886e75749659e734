import type { Attribution } from '../../auth/callers.ts';
import { prepareInsert, prepareInsertVarying } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/engine.ts';

/** `seen` and `gone` are of scanners. */
export const TIMELINE_KINDS = [
  'created',
  'edited',
  'status',
  'tags',
  'comment',
  'attachment',
  'retest',
  'seen',
  'gone',
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];
/** That it was created is told by its own row. */
type RecordedKind = Exclude<TimelineKind, 'created'>;

/** What was done to a vulnerability (operation 31): it lives as long as that does. */
export interface TimelineEntry {
  organizationId: number;
  vulnerabilityId: number;
  kind: RecordedKind;
  /** What it replaced and what stands there now; absent where there is nothing to tell. Never an address or a credential. */
  before?: object | null;
  after?: object | null;
  commentId?: number;
  /** The import that made the change, if one did. */
  importId?: number;
  /** Told to staff alone. */
  internal?: boolean;
}

const insertEntries = prepareInsert('timeline_entries', {
  organization_id: 'int',
  vulnerability_id: 'int',
  at: 'int',
  kind: 'text',
  user_id: 'int',
  before: 'text',
  after: 'text',
  comment_id: 'int',
  import_id: 'int',
  internal: 'int',
});

/** Writes what a unit of work has done to a vulnerability: one entry a kind. */
export function recordTimeline(tx: Transaction, act: Attribution, entry: TimelineEntry): Promise<void> {
  return recordTimelineEntries(tx, act, [entry]);
}

/** The same of many vulnerabilities, or of several kinds. */
export async function recordTimelineEntries(
  tx: Transaction,
  { actor, now }: Attribution,
  entries: readonly TimelineEntry[],
): Promise<void> {
  // Entries of many vulnerabilities share what they tell.
  const texts = new Map<object, string>();
  const textOf = (told: object | null | undefined): string | null => {
    if (told == null) return null;
    let text = texts.get(told);
    if (text === undefined) texts.set(told, (text = JSON.stringify(told)));
    return text;
  };
  await insertEntries(
    tx,
    entries.map((entry) => [
      entry.organizationId,
      entry.vulnerabilityId,
      now,
      entry.kind,
      actor.userId,
      textOf(entry.before),
      textOf(entry.after),
      entry.commentId ?? null,
      entry.importId ?? null,
      entry.internal === true ? 1 : 0,
    ]),
  );
}

const insertForEach = prepareInsertVarying(
  'timeline_entries',
  { organization_id: 'int', at: 'int', kind: 'text', user_id: 'int', before: 'text', after: 'text' },
  { column: 'vulnerability_id', kind: 'int' },
);

/** The same entry for each of many vulnerabilities of an organization. */
export async function recordTimelineForEach(
  tx: Transaction,
  { actor, now }: Attribution,
  {
    organizationId,
    kind,
    before,
    after,
  }: Pick<TimelineEntry, 'organizationId' | 'kind' | 'before' | 'after'>,
  vulnerabilityIds: readonly number[],
): Promise<void> {
  const textOf = (told: object | null | undefined) => (told == null ? null : JSON.stringify(told));
  const common = [organizationId, now, kind, actor.userId, textOf(before), textOf(after)];
  await insertForEach(tx, common, vulnerabilityIds);
}

/** What a timeline tells of tags, which may be gone or renamed when it is read. */
export function tagsSnapshot(tags: readonly { id: number; name: string }[]): object {
  return { tags: tags.map(({ id, name }) => ({ id, name })) };
}
