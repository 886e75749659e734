import { useMutation, useQueryClient } from '@tanstack/react-query';
import { notify, notifyError } from '../components/notifications.tsx';
import type { BatchItemResult } from '../components/batch-result-dialog.tsx';
import { chunk, findListing } from './bulk-edit-assets.ts';
import { ASSETS_KEY, pluralizeAssets, type AssetRow } from './assets.ts';
import { api } from './client.ts';
import { assetKey, findExistingAssets, type AssetEntry, rejectedAssets } from './create-assets.ts';

/** An asset that can be put into a scope; with its rules where it is in it already. */
export interface ScopeCandidate {
  assetUid: string;
  location: string;
  rules?: readonly string[];
}

/** @returns an asset as it can be put into the scope of an assessment */
export function toScopeCandidate(
  asset: Pick<AssetRow, 'uid' | 'location' | 'listings'>,
  assessment: string,
): ScopeCandidate {
  const listed = findListing(asset, assessment);
  return {
    assetUid: asset.uid,
    location: asset.location ?? asset.uid,
    ...(listed === undefined ? {} : { rules: listed.scopeRules.map(({ rule }) => rule) }),
  };
}

interface ScopeAddition {
  selected: readonly ScopeCandidate[];
  pasted: readonly AssetEntry[];
  /** Of all of them; where there are none, what is in scope already keeps its own. */
  rules: readonly string[];
  /** Whether what is pasted and no asset yet becomes one. */
  createsMissing: boolean;
}

/** Puts many assets into a scope (operations 75, 74 and 11): each has an outcome; told, with the way back. */
export function useAddToScope(uid: string, organizationUid: string) {
  const client = useQueryClient();
  const refresh = () => {
    client.removeQueries({ queryKey: ['choices', 'assets'] });
    void client.resetQueries({ queryKey: ASSETS_KEY });
    void client.invalidateQueries({ queryKey: ['listing', uid] });
    void client.invalidateQueries({ queryKey: ['assessment', uid], exact: true });
  };
  /** Puts these into the scope, each with its rules where it has some, or takes it out. */
  const patch = async (assets: readonly ScopeCandidate[], puts: boolean) => {
    for (const some of chunk(assets)) {
      const add = some.map(({ assetUid, rules }) => ({
        assetUid,
        ...(rules === undefined ? {} : { scopeRules: rules.map((rule) => ({ rule })) }),
      }));
      await api.PATCH('/api/asset/v2/listings/{listingUid}/assets', {
        params: { path: { listingUid: uid } },
        body: puts ? { add, remove: [] } : { add: [], remove: some.map(({ assetUid }) => assetUid) },
      });
    }
  };
  const undo = async (changed: readonly ScopeCandidate[], isNew: boolean) => {
    try {
      await patch(
        changed.filter(({ rules }) => rules === undefined),
        false,
      );
      await patch(
        changed.filter(({ rules }) => rules !== undefined),
        true,
      );
      notify(isNew ? 'Out of scope again. What was new stays among the assets.' : 'Set back.');
    } catch (error) {
      notifyError('It could not be undone', error);
    }
    refresh();
  };
  return useMutation({
    async mutationFn({ selected, pasted, rules, createsMissing }: ScopeAddition) {
      const known = await findExistingAssets(organizationUid, pasted, new AbortController().signal);
      const standing = new Map(
        [...selected, ...[...known.values()].map((row) => toScopeCandidate(row, uid))].map((one) => [
          one.assetUid,
          one,
        ]),
      );
      const stays = ({ rules: has }: ScopeCandidate) =>
        has !== undefined && (rules.length === 0 || has.join('\n') === rules.join('\n'));
      const changed = [...standing.values()].filter((one) => !stays(one));
      const fresh = pasted.filter((one) => !known.has(assetKey(one)));
      const { made, refused } = createsMissing
        ? await createMissing(fresh, organizationUid, uid)
        : { made: [], refused: fresh.map(({ location }) => rejected(location, 'There is no such asset.')) };
      // Those that were made are in scope already.
      const toPut = rules.length === 0 ? changed : [...changed, ...made];
      await patch(
        toPut.map(({ assetUid, location }) => ({
          assetUid,
          location,
          ...(rules.length === 0 ? {} : { rules }),
        })),
        true,
      );
      const outcomes: BatchItemResult[] = [
        ...[...changed, ...made].map(({ location }) => ({ name: location, status: 'done' as const })),
        ...[...standing.values()]
          .filter(stays)
          .map(({ location }) => ({ name: location, status: 'already' as const })),
        ...refused,
      ];
      return { outcomes, changed: [...changed, ...made], isNew: made.length > 0 };
    },
    onSuccess({ changed, isNew }) {
      if (changed.length > 0)
        notify(`${pluralizeAssets(changed.length)} put in scope.`, { undo: () => void undo(changed, isNew) });
    },
    onSettled: refresh,
  });
}

const rejected = (name: string, reason: string): BatchItemResult => ({ name, status: 'refused', reason });

/** Makes assets in a scope: what the server refuses of a request is left out of the next. */
async function createMissing(fresh: readonly AssetEntry[], organizationUid: string, listingUid: string) {
  const made: ScopeCandidate[] = [];
  const refused: BatchItemResult[] = [];
  for (const some of chunk(fresh))
    for (let left = some; left.length > 0;)
      try {
        const { data } = await api.POST('/api/asset/v2/assets', {
          body: left.map(({ assetType, location, name }) => ({
            organizationUid,
            assetType,
            location,
            criticality: 'undefined' as const,
            writableBy: 'any' as const,
            listingUid,
            ...(name === undefined || name === '' ? {} : { name }),
          })),
        });
        made.push(
          ...[data]
            .flat()
            .map(({ uid: assetUid, location }) => ({ assetUid, location: location ?? assetUid })),
        );
        left = [];
      } catch (error) {
        const faults = new Map(rejectedAssets(error, 0).map(({ index, message }) => [index, message]));
        if (faults.size === 0) throw error;
        for (const [index, message] of faults) refused.push(rejected(left[index]?.location ?? '', message));
        left = left.filter((_one, index) => !faults.has(index));
      }
  return { made, refused };
}
