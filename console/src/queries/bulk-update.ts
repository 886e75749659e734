import { type QueryClient, hashKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ChangeOfEachVulnerability, VulnerabilityFilter } from '../../../client/src/description.ts';
import { noun, vulnerabilitiesText } from '../components/pluralize.ts';
import { tell, tellError } from '../components/notifications.tsx';
import type { Severity } from '../components/severity-badge.tsx';
import { api, type Vulnerability } from './client.ts';
import { changeRows } from './paged-list.ts';
import { ALL, statuses, vulnerability, type VulnerabilityRow } from './vulnerabilities.ts';
import { idsOf } from './export-vulnerabilities.ts';

/** The most that one request changes. */
export const MOST_AT_ONCE = 10_000;

/** A change of operation 30: which ones, and what becomes of them. */
export interface ManyChange {
  ids?: readonly number[];
  /** Instead of `ids`: all that match. */
  filter?: VulnerabilityFilter;
  set: ChangeOfEachVulnerability;
  comment?: string;
  /** With `filter`: how many were seen to match; when others came or went meanwhile nothing is changed. */
  expected?: number;
  /** In words: "Fix In Progress". */
  what: string;
  /** Whom `assignee_id` names, to be shown before the server answers. */
  person?: { id: number; name: string | null; email: string } | null;
}

/**
 * @returns the bodies of the requests that a change needs: one, unless more match than one may change, or all are meant,
 *   which a filter cannot say
 */
async function requestsOf({ ids, filter, set, comment, expected }: ManyChange) {
  const rest = { set, ...(comment === undefined || comment === '' ? {} : { comment }) };
  const isOne = filter !== undefined && Object.keys(filter).length > 0 && (expected ?? 0) <= MOST_AT_ONCE;
  if (isOne) return [{ filter, ...rest, ...(expected === undefined ? {} : { expected_count: expected }) }];
  const wanted = ids ?? (await idsOf(filter ?? {}));
  if (expected !== undefined && wanted.length !== expected)
    throw new Error(
      `${vulnerabilitiesText(wanted.length)} ${noun(wanted.length, 'matches', 'match')} now, not ${expected.toLocaleString()}: some came or went meanwhile. Nothing was changed.`,
    );
  return Array.from({ length: Math.ceil(wanted.length / MOST_AT_ONCE) }, (_, index) => ({
    ids: wanted.slice(index * MOST_AT_ONCE, (index + 1) * MOST_AT_ONCE),
    ...rest,
  }));
}

/** @returns how many a change would match and change, of which nothing is done */
export async function tryChange(
  change: ManyChange,
  signal?: AbortSignal,
): Promise<{ matched: number; changed: number }> {
  const sum = { matched: 0, changed: 0 };
  for (const body of await requestsOf(change)) {
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
async function send(change: ManyChange): Promise<{ changed: number; requestIds: string[] }> {
  const requestIds: string[] = [];
  let changed = 0;
  try {
    for (const body of await requestsOf(change)) {
      const { data, response } = await api.POST('/v1/vulnerabilities/bulk_update', { body });
      changed += data.updated_count;
      requestIds.push(response.headers.get('x-request-id') ?? '');
    }
  } catch (error) {
    await setBack(requestIds);
    throw error;
  }
  return { changed, requestIds };
}

async function setBack(requestIds: readonly string[]): Promise<{ changed: number; kept: number }> {
  const sum = { changed: 0, kept: 0 };
  for (const undo of requestIds.toReversed()) {
    const { data } = await api.POST('/v1/vulnerabilities/bulk_update', { body: { undo } });
    sum.changed += data.updated_count;
    sum.kept += data.kept_count ?? 0;
  }
  return sum;
}

/** The rows that are shown and their vulnerabilities, as they were before a change. */
interface Former {
  rows: ReadonlyMap<number, VulnerabilityRow>;
}

/**
 * Operation 30 for one or for many: rows that are shown change at once where they stand, so that the list keeps its place,
 * and back when the server refuses; what happened is told, with the way back.
 */
export function useChangeVulnerabilities() {
  const client = useQueryClient();
  const undo = async (requestIds: readonly string[], former: Former | undefined) => {
    try {
      const { changed: number, kept } = await setBack(requestIds);
      if (kept === 0 && former !== undefined) putBack(client, former);
      else void client.resetQueries({ queryKey: ALL });
      refresh(client);
      tell(
        kept === 0
          ? `${vulnerabilitiesText(number)} set back.`
          : `${vulnerabilitiesText(number)} set back; ${kept.toLocaleString()} changed meanwhile and stay.`,
      );
    } catch (error) {
      tellError('It could not be undone', error);
    }
  };
  return useMutation({
    mutationFn: send,
    onMutate: async (change: ManyChange): Promise<Former> => {
      const known = await client.ensureQueryData(statuses);
      const rows = new Map<number, VulnerabilityRow>();
      const wanted = change.ids === undefined ? undefined : new Set(change.ids);
      const apply = (row: VulnerabilityRow) => {
        if (wanted?.has(row.id) === false) return row;
        if (!rows.has(row.id)) rows.set(row.id, row);
        return afterChange(row, change, known);
      };
      for (const key of listsOf(client, change)) changeRows<VulnerabilityRow>(client, key, apply);
      for (const id of wanted === undefined || wanted.size > SHOWN_AT_MOST ? [] : wanted)
        client.setQueryData(
          vulnerability(id).queryKey,
          (shown) => shown && afterChange(shown, change, known),
        );
      return { rows };
    },
    onError(error, { what }, former) {
      if (former !== undefined) putBack(client, former);
      refresh(client);
      tellError(`${what} could not be set`, error);
    },
    onSuccess({ changed: number, requestIds }, { what, ids }, former) {
      refresh(client);
      const only = ids?.length === 1 ? former?.rows.get(ids[0] ?? 0) : undefined;
      if (number === 0) tell(`${what}: that is what it was.`);
      else
        tell(`${what}: ${only?.title ?? `${vulnerabilitiesText(number)} changed.`}`, {
          undo: () => void undo(requestIds, former),
        });
    },
  });
}

/** Of these what is open beside the list or on a page is sought one by one. */
const SHOWN_AT_MOST = 200;

/** @returns the keys of the lists whose rows a change touches: all, or those that show what its filter finds */
function listsOf(client: QueryClient, { ids, filter }: ManyChange): (readonly unknown[])[] {
  if (ids !== undefined) return [ALL];
  const keys = client
    .getQueryCache()
    .findAll({ queryKey: ALL })
    .map(({ queryKey }) => queryKey)
    .filter(([, search, part]) => {
      const { sort: _, ...filters } = (search ?? {}) as Record<string, unknown>;
      return part === 'rows' && hashKey([filters]) === hashKey([filter ?? {}]);
    });
  return keys.map((key) => key.slice(0, -1));
}

function putBack(client: QueryClient, { rows }: Former): void {
  changeRows<VulnerabilityRow>(client, ALL, (row) => rows.get(row.id) ?? row);
}

/** Reads again what a change may have changed and is no list. */
function refresh(client: QueryClient): void {
  for (const key of ['summary', 'found', 'vulnerability']) void client.invalidateQueries({ queryKey: [key] });
}

/** Of operation 17. */
type VulnerabilityStatus = NonNullable<Awaited<ReturnType<NonNullable<typeof statuses.queryFn>>>>[number];

type Changing = Pick<Vulnerability, 'status_id' | 'status' | 'vulnerability_status' | 'severity' | 'tags'> &
  Pick<Vulnerability, 'assignee' | 'due_on'>;

/** @returns a vulnerability as it is after a change, as far as that can be known before the server answers */
function afterChange<One extends Changing>(
  one: One,
  { set: { status_id, severity, due_on, add_tags, remove_tags }, person }: ManyChange,
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
