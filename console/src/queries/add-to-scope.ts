import { useMutation, useQueryClient } from '@tanstack/react-query';
import { notify, notifyError } from '../components/notifications.ts';
import type { BatchItemResult } from '../components/batch-result-dialog.tsx';
import { findListing } from './bulk-edit-assets.ts';
import { ASSETS_KEY, type AssetRow } from './assets.ts';
import { api } from './client.ts';
import { assetKey, findExistingAssets, type AssetEntry, rejectedAssets } from './create-assets.ts';
import { commonMessages } from '../components/messages.ts';
import { queryMessages } from './messages.ts';
import { chunk } from './chunk.ts';

/** An asset that can be added to a scope; `rules` are those it has if it is already in scope. */
export interface ScopeCandidate {
  assetUid: string;
  location: string;
  rules?: readonly string[];
}

export function toScopeCandidate(
  asset: Pick<AssetRow, 'uid' | 'location' | 'listings'>,
  assessmentUid: string,
): ScopeCandidate {
  const listed = findListing(asset, assessmentUid);
  return {
    assetUid: asset.uid,
    location: asset.location ?? asset.uid,
    ...(listed === undefined ? {} : { rules: listed.scopeRules.map(({ rule }) => rule) }),
  };
}

interface ScopeAddition {
  selected: readonly ScopeCandidate[];
  pasted: readonly AssetEntry[];
  /** Apply to all; if empty, assets that are in scope keep theirs. */
  rules: readonly string[];
  /** Whether to create assets for pasted entries without one. */
  createsMissing: boolean;
}

/** Adds assets to a scope (operations 75, 74 and 11), with a result for each and with undo. */
export function useAddToScope(uid: string, organizationUid: string) {
  const client = useQueryClient();
  const refresh = () => {
    client.removeQueries({ queryKey: ['choices', 'assets'] });
    void client.resetQueries({ queryKey: ASSETS_KEY });
    void client.invalidateQueries({ queryKey: ['listing', uid] });
    void client.invalidateQueries({ queryKey: ['assessment', uid], exact: true });
  };
  const patch = async (assets: readonly ScopeCandidate[], isAdded: boolean) => {
    for (const batch of chunk(assets)) {
      const add = batch.map(({ assetUid, rules }) => ({
        assetUid,
        ...(rules === undefined ? {} : { scopeRules: rules.map((rule) => ({ rule })) }),
      }));
      await api.PATCH('/api/asset/v2/listings/{listingUid}/assets', {
        params: { path: { listingUid: uid } },
        body: isAdded ? { add, remove: [] } : { add: [], remove: batch.map(({ assetUid }) => assetUid) },
      });
    }
  };
  const undo = async (changed: readonly ScopeCandidate[], hasNew: boolean) => {
    try {
      await patch(
        changed.filter(({ rules }) => rules === undefined),
        false,
      );
      await patch(
        changed.filter(({ rules }) => rules !== undefined),
        true,
      );
      notify(hasNew ? queryMessages.scope.undoneExceptNew : commonMessages.undone);
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
    refresh();
  };
  return useMutation({
    async mutationFn({ selected, pasted, rules, createsMissing }: ScopeAddition) {
      const existingAssets = await findExistingAssets(organizationUid, pasted, new AbortController().signal);
      const candidates = new Map(
        [...selected, ...[...existingAssets.values()].map((row) => toScopeCandidate(row, uid))].map(
          (candidate) => [candidate.assetUid, candidate],
        ),
      );
      const isUnchanged = ({ rules: currentRules }: ScopeCandidate) =>
        currentRules !== undefined && (rules.length === 0 || currentRules.join('\n') === rules.join('\n'));
      const changed = [...candidates.values()].filter((candidate) => !isUnchanged(candidate));
      const entries = pasted.filter((asset) => !existingAssets.has(assetKey(asset)));
      const { created, rejections } = createsMissing
        ? await createMissing(entries, organizationUid, uid)
        : {
            created: [],
            rejections: entries.map(({ location }) => rejected(location, queryMessages.scope.unknownAsset)),
          };
      // Created assets are already in scope.
      const updates = rules.length === 0 ? changed : [...changed, ...created];
      await patch(
        updates.map(({ assetUid, location }) => ({
          assetUid,
          location,
          ...(rules.length === 0 ? {} : { rules }),
        })),
        true,
      );
      const results: BatchItemResult[] = [
        ...[...changed, ...created].map(({ location }) => ({ name: location, status: 'done' as const })),
        ...[...candidates.values()]
          .filter(isUnchanged)
          .map(({ location }) => ({ name: location, status: 'unchanged' as const })),
        ...rejections,
      ];
      return { results, changed: [...changed, ...created], hasNew: created.length > 0 };
    },
    onSuccess({ changed, hasNew }) {
      if (changed.length > 0)
        notify(queryMessages.scope.added(changed.length), { undo: () => void undo(changed, hasNew) });
    },
    onSettled: refresh,
  });
}

const rejected = (name: string, reason: string): BatchItemResult => ({ name, status: 'failed', reason });

/** Creates assets in a scope, retrying each batch without the entries that the server rejects. */
async function createMissing(entries: readonly AssetEntry[], organizationUid: string, listingUid: string) {
  const created: ScopeCandidate[] = [];
  const rejections: BatchItemResult[] = [];
  for (const batch of chunk(entries))
    for (let remaining = batch; remaining.length > 0;)
      try {
        const { data } = await api.POST('/api/asset/v2/assets', {
          body: remaining.map(({ assetType, location, name }) => ({
            organizationUid,
            assetType,
            location,
            criticality: 'undefined' as const,
            writableBy: 'any' as const,
            listingUid,
            ...(name === undefined || name === '' ? {} : { name }),
          })),
        });
        created.push(
          ...[data]
            .flat()
            .map(({ uid: assetUid, location }) => ({ assetUid, location: location ?? assetUid })),
        );
        remaining = [];
      } catch (error) {
        const errors = new Map(rejectedAssets(error, 0).map(({ index, message }) => [index, message]));
        if (errors.size === 0) throw error;
        for (const [index, message] of errors)
          rejections.push(rejected(remaining[index]?.location ?? '', message));
        remaining = remaining.filter((_one, index) => !errors.has(index));
      }
  return { created, rejections };
}
