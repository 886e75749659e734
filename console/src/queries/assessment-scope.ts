import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { paths } from '../../../client/src/description.ts';
import { notify, notifyError } from '../components/notifications.tsx';
import { api, parsePage } from './client.ts';
import { type PagedList, usePagedList } from './paged-list.ts';

/** An asset in the scope of an assessment, with its rules in it. */
export type ScopeAsset =
  paths['/api/asset/v2/listings/{listingUid}/assets']['get']['responses']['200']['content']['application/json'][number];

const SCOPE_PAGE_SIZE = 200;
const scopeKey = (uid: string) => ['listing', uid] as const;

/** Operation 79. */
export function useScope(uid: string, search: string): PagedList<ScopeAsset> {
  const query = search === '' ? {} : { search };
  return usePagedList<ScopeAsset>({
    key: [...scopeKey(uid), search],
    pageSize: SCOPE_PAGE_SIZE,
    fetchPage: async (cursor, signal) =>
      parsePage<ScopeAsset>(
        await api.GET('/api/asset/v2/listings/{listingUid}/assets', {
          params: {
            path: { listingUid: uid },
            query: { ...query, perPage: SCOPE_PAGE_SIZE, 'page[after]': cursor },
          },
          signal,
        }),
      ),
    async fetchTotal(signal) {
      const { response } = await api.GET('/api/asset/v2/listings/{listingUid}/assets', {
        params: { path: { listingUid: uid }, query: { ...query, perPage: 1 } },
        signal,
      });
      return Number(response.headers.get('pagination-total-count') ?? 0);
    },
  });
}

/** What becomes of one asset in the scope: these rules, or `null` where it leaves the scope. */
export interface ScopeChange {
  asset: { assetUid: string; location: string };
  previousRules: readonly string[] | null;
  rules: readonly string[] | null;
}

/** Operation 11 for one asset; what happened is told, with the way back. */
export function useUpdateScope(uid: string) {
  const client = useQueryClient();
  const send = async ({ asset: { assetUid }, rules }: ScopeChange) => {
    await api.PATCH('/api/asset/v2/listings/{listingUid}/assets', {
      params: { path: { listingUid: uid } },
      body:
        rules === null
          ? { remove: [assetUid] }
          : { add: [{ assetUid, scopeRules: rules.map((rule) => ({ rule })) }] },
    });
    // What can be put in scope comes with the rules that it has there.
    client.removeQueries({ queryKey: ['choices', 'assets'] });
    await client.invalidateQueries({ queryKey: scopeKey(uid) });
    void client.invalidateQueries({ queryKey: ['assessment', uid], exact: true });
  };
  const undo = async (change: ScopeChange) => {
    try {
      await send({ ...change, rules: change.previousRules, previousRules: change.rules });
      notify('Set back.');
    } catch (error) {
      notifyError('It could not be undone', error);
    }
  };
  return useMutation({
    mutationFn: send,
    onSuccess(_none, change) {
      const what = change.rules === null ? 'is out of scope' : 'has these rules now';
      notify(`${change.asset.location} ${what}.`, { undo: () => void undo(change) });
    },
  });
}
