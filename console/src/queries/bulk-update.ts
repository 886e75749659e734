import { type QueryClient, hashKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ChangeOfEachVulnerability, VulnerabilityFilter } from '../../../client/src/openapi-types.ts';
import { notify, notifyError } from '../components/notifications.ts';
import { api, type Vulnerability } from './client.ts';
import { updateCachedRows } from './paged-list.ts';
import {
  refreshCounts,
  statusesQuery,
  statusMembers,
  VULNERABILITIES_KEY,
  vulnerabilityQuery,
  type VulnerabilityRow,
  type VulnerabilityStatus,
} from './vulnerabilities.ts';
import { fetchIds } from './export-vulnerabilities.ts';
import { commonMessages } from '../components/messages.ts';
import { queryMessages } from './messages.ts';
import { chunk } from './chunk.ts';
import { isDismissal } from './statuses.ts';

/** Limit of vulnerabilities per request. */
export const MAX_BULK_UPDATE = 10_000;

/** A bulk update (operation 30) of `ids`, or of all that match `filter`. */
export interface BulkUpdateRequest {
  ids?: readonly number[];
  filter?: VulnerabilityFilter;
  set: ChangeOfEachVulnerability;
  comment?: string;
  /** The number of matches of `filter` that the user saw. If it has changed, nothing is updated. */
  expectedCount?: number;
  /** Names the change in notifications: "Fix In Progress". */
  label: string;
  /** The user of `assignee_id`, for the optimistic update. */
  assignee?: { id: number; name: string | null; email: string } | null;
}

/** @returns the request bodies: one, unless more match than one request may update or the filter is empty */
async function toRequests({ ids, filter, set, comment, expectedCount }: BulkUpdateRequest) {
  const rest = { set, ...(comment === undefined || comment === '' ? {} : { comment }) };
  const isOne =
    filter !== undefined && Object.keys(filter).length > 0 && (expectedCount ?? 0) <= MAX_BULK_UPDATE;
  if (isOne)
    return [{ filter, ...rest, ...(expectedCount === undefined ? {} : { expected_count: expectedCount }) }];
  const wantedIds = ids ?? (await fetchIds(filter ?? {}));
  if (expectedCount !== undefined && wantedIds.length !== expectedCount)
    throw new Error(queryMessages.vulnerability.countChanged(wantedIds.length, expectedCount));
  return chunk(wantedIds, MAX_BULK_UPDATE).map((batch) => ({ ids: batch, ...rest }));
}

/** Counts what an update would match and change, without applying it. */
export async function previewBulkUpdate(
  change: BulkUpdateRequest,
  signal?: AbortSignal,
): Promise<{ matched: number; changed: number }> {
  const sum = { matched: 0, changed: 0 };
  for (const body of await toRequests(change)) {
    const { data } = await api.POST('/v1/vulnerabilities/bulk_update', {
      body: {
        ...body,
        // A dry run of a dismissal needs a reason, and posts none.
        ...(isDismissal(change.set.status_id ?? 0) ? { comment: change.label } : {}),
        dry_run: true,
      },
      ...(signal === undefined ? {} : { signal }),
    });
    sum.matched += data.matched_count;
    sum.changed += data.updated_count;
  }
  return sum;
}

/** Sends an update, all or nothing: if one request fails, the previous ones are undone. */
export async function sendBulkUpdate(
  change: BulkUpdateRequest,
): Promise<{ changed: number; requestIds: string[] }> {
  const requestIds: string[] = [];
  let changed = 0;
  try {
    for (const body of await toRequests(change)) {
      const { data, response } = await api.POST('/v1/vulnerabilities/bulk_update', { body });
      changed += data.updated_count;
      requestIds.push(response.headers.get('x-request-id') ?? '');
    }
  } catch (error) {
    await undoBulkUpdate(requestIds);
    throw error;
  }
  return { changed, requestIds };
}

async function undoBulkUpdate(requestIds: readonly string[]): Promise<{ changed: number; skipped: number }> {
  const sum = { changed: 0, skipped: 0 };
  for (const undo of requestIds.toReversed()) {
    const { data } = await api.POST('/v1/vulnerabilities/bulk_update', { body: { undo } });
    sum.changed += data.updated_count;
    sum.skipped += data.kept_count ?? 0;
  }
  return sum;
}

/** Displayed rows as they were before an update, by id. */
interface PreviousRows {
  rows: ReadonlyMap<number, VulnerabilityRow>;
}

/**
 * Updates vulnerabilities (operation 30), with undo. Displayed rows are updated optimistically and keep their position.
 */
export function useBulkUpdate() {
  const client = useQueryClient();
  const undo = async (requestIds: readonly string[], previous: PreviousRows | undefined) => {
    try {
      const { changed: number, skipped } = await undoBulkUpdate(requestIds);
      if (skipped === 0 && previous !== undefined) restoreRows(client, previous);
      else void client.resetQueries({ queryKey: VULNERABILITIES_KEY });
      refreshAllButLists(client);
      notify(queryMessages.vulnerability.undone(number, skipped));
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
  };
  return useMutation({
    mutationFn: sendBulkUpdate,
    onMutate: async (change: BulkUpdateRequest): Promise<PreviousRows> => {
      const statuses = await client.ensureQueryData(statusesQuery);
      const rows = new Map<number, VulnerabilityRow>();
      const updatedIds = change.ids === undefined ? undefined : new Set(change.ids);
      const apply = (row: VulnerabilityRow) => {
        if (updatedIds?.has(row.id) === false) return row;
        if (!rows.has(row.id)) rows.set(row.id, row);
        return applyUpdate(row, change, statuses);
      };
      for (const key of affectedLists(client, change)) updateCachedRows<VulnerabilityRow>(client, key, apply);
      for (const id of updatedIds === undefined || updatedIds.size > MAX_CACHED_UPDATES ? [] : updatedIds)
        client.setQueryData(
          vulnerabilityQuery(id).queryKey,
          (current) => current && applyUpdate(current, change, statuses),
        );
      return { rows };
    },
    onError(error, { label }, previous) {
      if (previous !== undefined) restoreRows(client, previous);
      refreshAllButLists(client);
      notifyError(queryMessages.vulnerability.updateFailed(label), error);
    },
    onSuccess({ changed: number, requestIds }, { label, ids }, previous) {
      refreshAllButLists(client);
      const singleRow = ids?.length === 1 ? previous?.rows.get(ids[0] ?? 0) : undefined;
      const { unchanged, updated, updatedCount } = queryMessages.vulnerability;
      if (number === 0) notify(unchanged(label));
      else
        notify(singleRow === undefined ? updatedCount(label, number) : updated(label, singleRow.title), {
          undo: () => void undo(requestIds, previous),
        });
    },
  });
}

/** Up to this many ids, cached vulnerabilities outside lists are updated one by one. */
const MAX_CACHED_UPDATES = 200;

/** @returns the keys of the cached lists that an update may affect: all, or those with its filter */
function affectedLists(client: QueryClient, { ids, filter }: BulkUpdateRequest): (readonly unknown[])[] {
  if (ids !== undefined) return [VULNERABILITIES_KEY];
  const keys = client
    .getQueryCache()
    .findAll({ queryKey: VULNERABILITIES_KEY })
    .map(({ queryKey }) => queryKey.slice(0, VULNERABILITIES_KEY.length + 1))
    .filter(([, search]) => {
      const { sort: _, ...filters } = (search ?? {}) as Record<string, unknown>;
      return hashKey([filters]) === hashKey([filter ?? {}]);
    });
  return [...new Map(keys.map((key) => [hashKey(key), key])).values()];
}

function restoreRows(client: QueryClient, { rows }: PreviousRows): void {
  updateCachedRows<VulnerabilityRow>(client, VULNERABILITIES_KEY, (row) => rows.get(row.id) ?? row);
}

/** Refetches everything affected except lists. */
export function refreshAllButLists(client: QueryClient): void {
  refreshCounts(client);
  void client.invalidateQueries({ queryKey: ['vulnerability'] });
}

type UpdatableFields = Pick<
  Vulnerability,
  'status_id' | 'status' | 'vulnerability_status' | 'severity' | 'tags'
> &
  Pick<Vulnerability, 'assignee' | 'due_on'>;

/** @returns the vulnerability as it will presumably be after the update */
function applyUpdate<One extends UpdatableFields>(
  row: One,
  { set: { status_id, severity, due_on, add_tags, remove_tags }, assignee: person }: BulkUpdateRequest,
  statuses: readonly VulnerabilityStatus[],
): One {
  const status = statuses.find(({ id }) => id === status_id);
  const remaining = row.tags.filter(({ name: tag }) => remove_tags?.includes(tag) !== true);
  const added = (add_tags ?? []).filter((text) => remaining.every((tag) => tag.name !== text));
  return {
    ...row,
    ...(status === undefined ? {} : statusMembers(status, row.vulnerability_status)),
    ...(severity === undefined ? {} : { severity }),
    ...(due_on === undefined ? {} : { due_on }),
    ...(person === undefined ? {} : { assignee: person }),
    tags: [...remaining, ...added.map((name) => ({ id: 0, name, editable: true }))],
  };
}
