import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { paths } from '../../../client/src/openapi-types.ts';
import { notify, notifyError } from '../components/notifications.ts';
import { api, pageStart, parsePage, parseTotal } from './client.ts';
import { type PagedList, usePagedList } from './paged-list.ts';
import { commonMessages } from '../components/messages.ts';
import { queryMessages } from './messages.ts';

/** An asset in the scope of an assessment, with its scope rules. */
export type ScopeAsset =
  paths['/api/asset/v2/listings/{listingUid}/assets']['get']['responses']['200']['content']['application/json'][number];

const SCOPE_PAGE_SIZE = 200;
const scopeKey = (uid: string) => ['listing', uid] as const;

/** Lists the assets in the scope of an assessment (operation 79). */
export function useScope(uid: string, search: string): PagedList<ScopeAsset> {
  const query = search === '' ? {} : { search };
  return usePagedList<ScopeAsset>({
    key: [...scopeKey(uid), search],
    pageSize: SCOPE_PAGE_SIZE,
    fetchPage: async (cursor, signal, number) =>
      parsePage<ScopeAsset>(
        await api.GET('/api/asset/v2/listings/{listingUid}/assets', {
          params: {
            path: { listingUid: uid },
            query: { ...query, perPage: SCOPE_PAGE_SIZE, ...pageStart(cursor, number, 'page') },
          },
          signal,
        }),
      ),
    async fetchTotal(signal) {
      const { response } = await api.GET('/api/asset/v2/listings/{listingUid}/assets', {
        params: { path: { listingUid: uid }, query: { ...query, perPage: 1 } },
        signal,
      });
      return parseTotal(response);
    },
  });
}

/** Sets the scope rules of an asset, or removes it from the scope with `null`. */
interface ScopeChange {
  asset: { assetUid: string; location: string };
  previousRules: readonly string[] | null;
  rules: readonly string[] | null;
}

/** Updates the scope for one asset (operation 11), with undo. */
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
    // The options for adding assets include their current rules.
    client.removeQueries({ queryKey: ['choices', 'assets'] });
    await client.invalidateQueries({ queryKey: scopeKey(uid) });
    void client.invalidateQueries({ queryKey: ['assessment', uid], exact: true });
  };
  const undo = async (change: ScopeChange) => {
    try {
      await send({ ...change, rules: change.previousRules, previousRules: change.rules });
      notify(commonMessages.undone);
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
  };
  return useMutation({
    mutationFn: send,
    onSuccess(_none, change) {
      const { location } = change.asset;
      const { removed, rulesUpdated } = queryMessages.scope;
      notify(change.rules === null ? removed(location) : rulesUpdated(location), {
        undo: () => void undo(change),
      });
    },
  });
}

/** The first assets that findings or imports of an assessment have and its scope lacks, and how many there are. */
export const assetsOutsideScopeQuery = (uid: string) =>
  queryOptions({
    queryKey: [...scopeKey(uid), 'outside'],
    async queryFn({ signal }) {
      const { data, response } = await api.GET('/api/asset/v2/assets', {
        params: { query: { 'outsideListingUid[]': [uid], perPage: SCOPE_PAGE_SIZE, sort: 'location' } },
        signal,
      });
      return { assets: data, total: parseTotal(response) };
    },
  });
