import type { AuditedChange } from '../../audit/record-event.ts';
import { statusTimelineEntry } from '../change-status.ts';
import type { LockedVulnerability, MutableFields } from '../lock-vulnerability.ts';
import { tagsSnapshot, type TimelineEntry } from '../timeline.ts';

/** A locked vulnerability and the fields that it gets. */
export interface FieldChange {
  locked: LockedVulnerability;
  after: MutableFields;
}

export function hasChanges({ locked: { fields }, after }: FieldChange): boolean {
  return (
    fields.statusId !== after.statusId ||
    fields.severity !== after.severity ||
    fields.assigneeId !== after.assigneeId ||
    fields.dueOn !== after.dueOn ||
    String(fields.tags) !== String(after.tags)
  );
}

/** The fields other than status and tags, as the timeline and the audit log name them. */
export const EDITED_FIELDS = [
  ['severity', 'severity'],
  ['assignee_id', 'assigneeId'],
  ['due_on', 'dueOn'],
] as const;

export type TagSnapshots = (ids: readonly number[]) => object;

/** Returns the same object for the same tags, so that it is serialized once. */
export function memoizeTagSnapshots(tagNames: ReadonlyMap<number, string>): TagSnapshots {
  const snapshots = new Map<string, object>();
  return (ids) => {
    const key = String(ids);
    let snapshot = snapshots.get(key);
    if (snapshot === undefined)
      snapshots.set(key, (snapshot = tagsSnapshot(ids.map((id) => ({ id, name: tagNames.get(id) ?? '' })))));
    return snapshot;
  };
}

/** @returns one entry for the status, one for the tags and one for the other fields, if they differ */
export function timelineEntriesOf({ locked, after }: FieldChange, tagsOf: TagSnapshots): TimelineEntry[] {
  const { id, organizationId, fields } = locked;
  const target = { organizationId, vulnerabilityId: id, internal: locked.draft === 1 };
  const entries: TimelineEntry[] = [];
  const edited = editedSides(fields, after);
  if (edited !== undefined) entries.push({ ...target, kind: 'edited', before: edited[0], after: edited[1] });
  if (fields.statusId !== after.statusId)
    entries.push(statusTimelineEntry(target, fields.statusId, after.statusId));
  if (String(fields.tags) !== String(after.tags))
    entries.push({ ...target, kind: 'tags', before: tagsOf(fields.tags), after: tagsOf(after.tags) });
  return entries;
}

/** The fields other than status and tags that differ, before and after. */
function editedSides(before: MutableFields, after: MutableFields): [object, object] | undefined {
  const changed = EDITED_FIELDS.filter(([, member]) => before[member] !== after[member]);
  if (changed.length === 0) return undefined;
  const valuesOf = (state: MutableFields) =>
    Object.fromEntries(changed.map(([name, member]) => [name, state[member]]));
  return [valuesOf(before), valuesOf(after)];
}

/** One side of an audit event: the fields that differ. */
function auditSide({ locked: { fields }, after }: FieldChange, side: MutableFields): object {
  const members: Record<string, unknown> = {};
  if (fields.statusId !== after.statusId) members['status_id'] = side.statusId;
  for (const [name, member] of EDITED_FIELDS)
    if (fields[member] !== after[member]) members[name] = side[member];
  if (String(fields.tags) !== String(after.tags)) members['tags'] = side.tags;
  return members;
}

/** @returns the change for the audit log */
export function auditedChange(change: FieldChange): AuditedChange {
  const { id, organizationId, fields } = change.locked;
  return {
    action: 'vulnerability.update',
    object: ['vulnerability', id],
    organizationId,
    before: auditSide(change, fields),
    after: auditSide(change, change.after),
    internal: change.locked.draft === 1,
  };
}
