import type { ChangeContext } from '../../auth/callers.ts';
import { prepareInsert, prepareBatchInsert } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/database.ts';

/** `seen` and `gone` come from imports. */
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
/** The entry `created` comes from the vulnerability itself. */
type RecordedKind = Exclude<TimelineKind, 'created'>;

/** An entry of the timeline of a vulnerability (operation 31), deleted with it. */
export interface TimelineEntry {
  organizationId: number;
  vulnerabilityId: number;
  kind: RecordedKind;
  /** Never a network address or a credential of the account. */
  before?: object | null;
  after?: object | null;
  commentId?: number;
  /** The import that made the change, if one did. */
  importId?: number;
  /** Visible to staff only. */
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

/** Records an entry in the timeline of a vulnerability: one per kind and transaction. */
export function recordTimeline(tx: Transaction, by: ChangeContext, entry: TimelineEntry): Promise<void> {
  return recordTimelineEntries(tx, by, [entry]);
}

export async function recordTimelineEntries(
  tx: Transaction,
  { actor, now }: ChangeContext,
  entries: readonly TimelineEntry[],
): Promise<void> {
  // Entries of many vulnerabilities share their snapshots: serialize each once.
  const texts = new Map<object, string>();
  const textOf = (snapshot: object | null | undefined): string | null => {
    if (snapshot == null) return null;
    let text = texts.get(snapshot);
    if (text === undefined) texts.set(snapshot, (text = JSON.stringify(snapshot)));
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

const insertForEach = prepareBatchInsert(
  'timeline_entries',
  {
    organization_id: 'int',
    at: 'int',
    kind: 'text',
    user_id: 'int',
    before: 'text',
    after: 'text',
    internal: 'int',
  },
  { column: 'vulnerability_id', kind: 'int' },
);

/** Records the same entry for many vulnerabilities of one organization. */
export async function recordTimelineForEach(
  tx: Transaction,
  { actor, now }: ChangeContext,
  {
    organizationId,
    kind,
    before,
    after,
    internal = false,
  }: Pick<TimelineEntry, 'organizationId' | 'kind' | 'before' | 'after' | 'internal'>,
  vulnerabilityIds: readonly number[],
): Promise<void> {
  const textOf = (snapshot: object | null | undefined) =>
    snapshot == null ? null : JSON.stringify(snapshot);
  const common = [organizationId, now, kind, actor.userId, textOf(before), textOf(after), internal ? 1 : 0];
  await insertForEach(tx, common, vulnerabilityIds);
}

/** Includes names: tags can be renamed or deleted later. */
export function tagsSnapshot(tags: readonly { id: number; name: string }[]): object {
  return { tags: tags.map(({ id, name }) => ({ id, name })) };
}
