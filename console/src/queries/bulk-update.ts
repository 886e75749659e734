import { type QueryClient, hashKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ChangeOfEachVulnerability, VulnerabilityFilter } from '../../../client/src/description.ts';
import { pluralNoun, pluralizeVulnerabilities } from '../components/pluralize.ts';
import { notify, notifyError } from '../components/notifications.tsx';
import type { Severity } from '../components/severity-badge.tsx';
import { api, type Vulnerability } from './client.ts';
import { updateCachedRows } from './paged-list.ts';
import { VULNERABILITIES_KEY, statuses, vulnerability, type VulnerabilityRow } from './vulnerabilities.ts';
import { fetchIds } from './export-vulnerabilities.ts';

/** The most that one request changes. */
export const MAX_BULK_UPDATE = 10_000;

/** A change of operation 30: which ones, and what becomes of them. */
export interface BulkUpdateRequest {
  ids?: readonly number[];
  /** Instead of `ids`: all that match. */
  filter?: VulnerabilityFilter;
  set: ChangeOfEachVulnerability;
  comment?: string;
  /** With `filter`: how many were seen to match; when others came or went meanwhile nothing is changed. */
  expectedCount?: number;
  /** In words: "Fix In Progress". */
  label: string;
  /** Whom `assignee_id` names, to be shown before the server answers. */
  assignee?: { id: number; name: string | null; email: string } | null;
}

/**
 * @returns the bodies of the requests that a change needs: one, unless more match than one may change, or all are meant,
 *   which a filter cannot say
 */
async function toRequests({ ids, filter, set, comment, expectedCount }: BulkUpdateRequest) {
  const rest = { set, ...(comment === undefined || comment === '' ? {} : { comment }) };
  const isOne =
    filter !== undefined && Object.keys(filter).length > 0 && (expectedCount ?? 0) <= MAX_BULK_UPDATE;
  if (isOne)
    return [{ filter, ...rest, ...(expectedCount === undefined ? {} : { expected_count: expectedCount }) }];
  const wanted = ids ?? (await fetchIds(filter ?? {}));
  if (expectedCount !== undefined && wanted.length !== expectedCount)
    throw new Error(
      `${pluralizeVulnerabilities(wanted.length)} ${pluralNoun(wanted.length, 'matches', 'match')} now, not ${expectedCount.toLocaleString()}: some came or went meanwhile. Nothing was changed.`,
    );
  return Array.from({ length: Math.ceil(wanted.length / MAX_BULK_UPDATE) }, (_, index) => ({
    ids: wanted.slice(index * MAX_BULK_UPDATE, (index + 1) * MAX_BULK_UPDATE),
    ...rest,
  }));
}

/** @returns how many a change would match and change, of which nothing is done */
export async function previewBulkUpdate(
  change: BulkUpdateRequest,
  signal?: AbortSignal,
): Promise<{ matched: number; changed: number }> {
  const sum = { matched: 0, changed: 0 };
  for (const body of await toRequests(change)) {
    const { data } = await api.POST('/v1/vulnerabilities/bulk_update', {
      body: { ...body, dry_run: true },
      ...(signal === undefined ? {} : { signal }),
    });
    sum.matched += data.matched_count;
    sum.changed += data.updated_count;
  }
  return sum;
}

/** Sends a change, all or nothing: when a part of it is refused, the parts before it are set back. */
async function sendBulkUpdate(change: BulkUpdateRequest): Promise<{ changed: number; requestIds: string[] }> {
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

async function undoBulkUpdate(requestIds: readonly string[]): Promise<{ changed: number; kept: number }> {
  const sum = { changed: 0, kept: 0 };
  for (const undo of requestIds.toReversed()) {
    const { data } = await api.POST('/v1/vulnerabilities/bulk_update', { body: { undo } });
    sum.changed += data.updated_count;
    sum.kept += data.kept_count ?? 0;
  }
  return sum;
}

/** The rows that are shown and their vulnerabilities, as they were before a change. */
interface PreviousRows {
  rows: ReadonlyMap<number, VulnerabilityRow>;
}

/**
 * Operation 30 for one or for many: rows that are shown change at once where they stand, so that the list keeps its place,
 * and back when the server refuses; what happened is told, with the way back.
 */
export function useBulkUpdate() {
  const client = useQueryClient();
  const undo = async (requestIds: readonly string[], former: PreviousRows | undefined) => {
    try {
      const { changed: number, kept } = await undoBulkUpdate(requestIds);
      if (kept === 0 && former !== undefined) restoreRows(client, former);
      else void client.resetQueries({ queryKey: VULNERABILITIES_KEY });
      refreshCounts(client);
      notify(
        kept === 0
          ? `${pluralizeVulnerabilities(number)} set back.`
          : `${pluralizeVulnerabilities(number)} set back; ${kept.toLocaleString()} changed meanwhile and stay.`,
      );
    } catch (error) {
      notifyError('It could not be undone', error);
    }
  };
  return useMutation({
    mutationFn: sendBulkUpdate,
    onMutate: async (change: BulkUpdateRequest): Promise<PreviousRows> => {
      const known = await client.ensureQueryData(statuses);
      const rows = new Map<number, VulnerabilityRow>();
      const wanted = change.ids === undefined ? undefined : new Set(change.ids);
      const apply = (row: VulnerabilityRow) => {
        if (wanted?.has(row.id) === false) return row;
        if (!rows.has(row.id)) rows.set(row.id, row);
        return applyUpdate(row, change, known);
      };
      for (const key of affectedLists(client, change)) updateCachedRows<VulnerabilityRow>(client, key, apply);
      for (const id of wanted === undefined || wanted.size > MAX_CACHED_UPDATES ? [] : wanted)
        client.setQueryData(
          vulnerability(id).queryKey,
          (shown) => shown && applyUpdate(shown, change, known),
        );
      return { rows };
    },
    onError(error, { label }, former) {
      if (former !== undefined) restoreRows(client, former);
      refreshCounts(client);
      notifyError(`${label} could not be set`, error);
    },
    onSuccess({ changed: number, requestIds }, { label, ids }, former) {
      refreshCounts(client);
      const only = ids?.length === 1 ? former?.rows.get(ids[0] ?? 0) : undefined;
      if (number === 0) notify(`${label}: that is what it was.`);
      else
        notify(`${label}: ${only?.title ?? `${pluralizeVulnerabilities(number)} changed.`}`, {
          undo: () => void undo(requestIds, former),
        });
    },
  });
}

/** Of these what is open beside the list or on a page is sought one by one. */
const MAX_CACHED_UPDATES = 200;

/** @returns the keys of the lists whose rows a change touches: all, or those that show what its filter finds */
function affectedLists(client: QueryClient, { ids, filter }: BulkUpdateRequest): (readonly unknown[])[] {
  if (ids !== undefined) return [VULNERABILITIES_KEY];
  const keys = client
    .getQueryCache()
    .findAll({ queryKey: VULNERABILITIES_KEY })
    .map(({ queryKey }) => queryKey)
    .filter(([, search, part]) => {
      const { sort: _, ...filters } = (search ?? {}) as Record<string, unknown>;
      return part === 'rows' && hashKey([filters]) === hashKey([filter ?? {}]);
    });
  return keys.map((key) => key.slice(0, -1));
}

function restoreRows(client: QueryClient, { rows }: PreviousRows): void {
  updateCachedRows<VulnerabilityRow>(client, VULNERABILITIES_KEY, (row) => rows.get(row.id) ?? row);
}

/** Reads again what a change may have changed and is no list. */
function refreshCounts(client: QueryClient): void {
  for (const key of ['summary', 'found', 'vulnerability']) void client.invalidateQueries({ queryKey: [key] });
}

/** Of operation 17. */
type VulnerabilityStatus = NonNullable<Awaited<ReturnType<NonNullable<typeof statuses.queryFn>>>>[number];

type UpdatableFields = Pick<
  Vulnerability,
  'status_id' | 'status' | 'vulnerability_status' | 'severity' | 'tags'
> &
  Pick<Vulnerability, 'assignee' | 'due_on'>;

/** @returns a vulnerability as it is after a change, as far as that can be known before the server answers */
function applyUpdate<One extends UpdatableFields>(
  one: One,
  { set: { status_id, severity, due_on, add_tags, remove_tags }, assignee: person }: BulkUpdateRequest,
  known: readonly VulnerabilityStatus[],
): One {
  const status = known.find(({ id }) => id === status_id);
  const kept = one.tags.filter(({ name: tag }) => remove_tags?.includes(tag) !== true);
  const added = (add_tags ?? []).filter((text) => kept.every((tag) => tag.name !== text));
  return {
    ...one,
    ...(status === undefined
      ? {}
      : {
          status_id: status.id,
          status: status.name,
          vulnerability_status: {
            ...one.vulnerability_status,
            id: status.id,
            text: status.name,
            flow_type: status.flow_type,
            flow_position: status.flow_position,
          },
        }),
    ...(severity === undefined ? {} : { severity: severity as Severity }),
    ...(due_on === undefined ? {} : { due_on }),
    ...(person === undefined ? {} : { assignee: person }),
    tags: [...kept, ...added.map((name) => ({ id: 0, name, editable: true }))],
  };
}
