import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { notify, notifyError } from '../components/notifications.ts';
import { ASSETS_KEY, type AssetRow } from './assets.ts';
import type { Criticality } from './enums.ts';
import { api, type Asset } from './client.ts';
import { updateCachedRows } from './paged-list.ts';
import { commonMessages } from '../components/messages.ts';
import { cachedAssessmentName } from './names.ts';
import { queryMessages } from './messages.ts';
import { chunk, MAX_ASSETS_PER_REQUEST } from './chunk.ts';
import { pluralizeAssets } from '../components/pluralize.ts';

export function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** Updates assets in every cached list and page. */
function updateCachedAssets(client: QueryClient, change: ReadonlyMap<string, Partial<AssetRow>>): void {
  updateCachedRows<AssetRow>(client, ASSETS_KEY, (row) => ({ ...row, ...change.get(row.uid) }));
  for (const [uid, members] of change)
    client.setQueryData<Asset & { version: string }>(['asset', uid], (data) =>
      data === undefined ? data : { ...data, ...members },
    );
}

const refetchAssets = (client: QueryClient, rows: readonly AssetRow[]) => {
  for (const { uid } of rows) void client.invalidateQueries({ queryKey: ['asset', uid] });
};

async function updateCriticality(rows: readonly AssetRow[], criticality: Criticality): Promise<number> {
  let updated = 0;
  for (const [organizationUid, all] of groupBy(rows, (row) => row.organizationUid))
    for (const batch of chunk(all)) {
      const { data } = await api.POST('/api/asset/v2/bulk/assets/criticality:update', {
        body: { organizationUid, criticality, assetUids: batch.map(({ uid }) => uid) },
      });
      updated += data.updatedCount;
    }
  return updated;
}

/** Sets the criticality (operation 10) optimistically, with undo. */
export function useSetCriticality() {
  const client = useQueryClient();
  const restore = (rows: readonly AssetRow[]) =>
    updateCachedAssets(client, new Map(rows.map(({ uid, criticality }) => [uid, { criticality }])));
  const undo = async (rows: readonly AssetRow[]) => {
    try {
      let number = 0;
      for (const [criticality, batch] of groupBy(rows, (row) => row.criticality))
        number += await updateCriticality(batch, criticality as Criticality);
      void client.resetQueries({ queryKey: ASSETS_KEY });
      notify(queryMessages.undoneFor(pluralizeAssets(number)));
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
    refetchAssets(client, rows);
  };
  return useMutation({
    mutationFn: ({ rows, criticality }: { rows: readonly AssetRow[]; criticality: Criticality }) =>
      updateCriticality(rows, criticality),
    onMutate: ({ rows, criticality }) =>
      updateCachedAssets(client, new Map(rows.map(({ uid }) => [uid, { criticality }]))),
    onError(error, { rows }) {
      restore(rows);
      notifyError(queryMessages.asset.criticalityFailed, error);
    },
    onSuccess(number, { rows, criticality }) {
      refetchAssets(client, rows);
      if (number !== rows.length) void client.resetQueries({ queryKey: ASSETS_KEY });
      notify(queryMessages.asset.criticality(criticality, number, rows.length - number), {
        undo: () => void undo(rows),
      });
    },
  });
}

interface TagChange {
  rows: readonly AssetRow[];
  /** Names; missing tags are created. */
  add: readonly string[];
  /** Uids. */
  remove: readonly string[];
}

interface TagResult {
  undoSteps: (() => Promise<unknown>)[];
  updatedRows: Map<string, Pick<AssetRow, 'tags'>>;
}

const patchTags = (orgUid: string, tagUid: string, add: readonly string[], remove: readonly string[]) =>
  api.PATCH('/api/tagging/v1.0/organizations/{orgUid}/tags', {
    params: { path: { orgUid } },
    body: { uids: [tagUid], addEntities: add.map((uid) => ({ uid })), delEntityUids: [...remove] },
  });

/** Attaches tags by name and detaches them by uid (operations 8 and 9). */
async function tagAssets({ rows, add, remove }: TagChange): Promise<TagResult> {
  const undoSteps: TagResult['undoSteps'] = [];
  const updatedRows = new Map(rows.map(({ uid, tags }) => [uid, { tags }]));
  const show = (batch: readonly AssetRow[], change: (tags: AssetRow['tags']) => AssetRow['tags']) => {
    for (const { uid } of batch) updatedRows.set(uid, { tags: change(updatedRows.get(uid)?.tags ?? []) });
  };
  for (const [orgUid, all] of groupBy(rows, (row) => row.organizationUid)) {
    for (const name of add) {
      let tag = await findTagByName(orgUid, name);
      if (tag === undefined) {
        const { data } = await api.POST('/api/tagging/v1.0/organizations/{orgUid}/tags', {
          params: { path: { orgUid } },
          body: {
            tags: [{ name, entities: all.slice(0, MAX_ASSETS_PER_REQUEST).map(({ uid }) => ({ uid })) }],
          },
        });
        tag = data.tags[0];
        const uids = tag === undefined ? [] : [tag.uid];
        undoSteps.push(() =>
          api.DELETE('/api/tagging/v1.0/organizations/{orgUid}/tags', {
            params: { path: { orgUid } },
            body: { uids },
          }),
        );
        if (tag !== undefined)
          for (const batch of chunk(all.slice(MAX_ASSETS_PER_REQUEST)))
            await patchTags(
              orgUid,
              tag.uid,
              batch.map(({ uid }) => uid),
              [],
            );
      } else {
        const { uid: tagUid } = tag;
        const untagged = all.filter(({ tags }) => tags.every(({ uid }) => uid !== tagUid));
        for (const batch of chunk(untagged.map(({ uid }) => uid))) {
          await patchTags(orgUid, tagUid, batch, []);
          undoSteps.push(() => patchTags(orgUid, tagUid, [], batch));
        }
      }
      const { uid = '' } = tag ?? {};
      show(all, (tags) => [...tags.filter((other) => other.uid !== uid), { uid, name }]);
    }
    for (const tagUid of remove) {
      const taggedAssets = all.filter(({ tags }) => tags.some(({ uid }) => uid === tagUid));
      for (const batch of chunk(taggedAssets.map(({ uid }) => uid))) {
        await patchTags(orgUid, tagUid, [], batch);
        undoSteps.push(() => patchTags(orgUid, tagUid, batch, []));
      }
      show(taggedAssets, (tags) => tags.filter(({ uid }) => uid !== tagUid));
    }
  }
  return { undoSteps, updatedRows };
}

/** In upper case, `ß` and `ss` are the same, as on the server. */
const toUpperCaseName = (name: string) => name.trim().normalize('NFC').toUpperCase();

async function findTagByName(
  orgUid: string,
  name: string,
): Promise<{ uid: string; name: string } | undefined> {
  const tags = api.rows('/api/tagging/v1.0/organizations/{orgUid}/tags', {
    params: { path: { orgUid }, query: { search: name, perPage: 100 } },
  });
  for await (const tag of tags) if (toUpperCaseName(tag.name) === toUpperCaseName(name)) return tag;
  return undefined;
}

/** Attaches and detaches tags of assets, with undo. */
export function useTagAssets() {
  const client = useQueryClient();
  const undo = async ({ rows }: TagChange, { undoSteps }: TagResult) => {
    try {
      for (const step of undoSteps.toReversed()) await step();
      updateCachedAssets(client, new Map(rows.map(({ uid, tags }) => [uid, { tags }])));
      notify(queryMessages.undoneFor(pluralizeAssets(rows.length)));
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
    refetchAssets(client, rows);
  };
  return useMutation({
    mutationFn: tagAssets,
    onError: (error) => notifyError(queryMessages.asset.tagsFailed, error),
    onSuccess(changed, change) {
      updateCachedAssets(client, changed.updatedRows);
      void client.invalidateQueries({ queryKey: ['asset-tags'] });
      refetchAssets(client, change.rows);
      notify(queryMessages.asset.tagsUpdated(change.rows.length), {
        undo: () => void undo(change, changed),
      });
    },
  });
}

interface ListingEdit {
  rows: readonly AssetRow[];
  listingUid: string;
  /** Whether the assets are on the listing afterwards. */
  isListed: boolean;
  /** Scope rules: what may be tested and when. If absent, the current rules stay. */
  rules?: readonly string[];
}

const patchListing = (
  listingUid: string,
  add: readonly { assetUid: string; scopeRules?: { rule: string }[] }[],
  remove: readonly string[],
) =>
  api.PATCH('/api/asset/v2/listings/{listingUid}/assets', {
    params: { path: { listingUid } },
    body: { add: [...add], remove: [...remove] },
  });

/** Adds assets to a listing, removes them, or sets their scope rules (operation 11), with undo. */
export function useEditListing() {
  const client = useQueryClient();
  const refetch = (rows: readonly AssetRow[]) => {
    void client.resetQueries({ queryKey: ASSETS_KEY });
    refetchAssets(client, rows);
  };
  const undo = async ({ rows, listingUid }: ListingEdit) => {
    try {
      for (const batch of chunk(rows, MAX_ASSETS_PER_REQUEST / 2)) {
        const [on, off] = [
          batch.filter((row) => findListing(row, listingUid)),
          batch.filter((row) => !findListing(row, listingUid)),
        ];
        await patchListing(
          listingUid,
          on.map((row) => ({
            assetUid: row.uid,
            scopeRules: findListing(row, listingUid)?.scopeRules ?? [],
          })),
          off.map(({ uid }) => uid),
        );
      }
      notify(queryMessages.undoneFor(pluralizeAssets(rows.length)));
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
    refetch(rows);
  };
  return useMutation({
    async mutationFn({ rows, listingUid, isListed, rules }: ListingEdit) {
      const scopeRules = rules === undefined ? {} : { scopeRules: rules.map((rule) => ({ rule })) };
      for (const batch of chunk(rows.map(({ uid }) => uid)))
        await (isListed
          ? patchListing(
              listingUid,
              batch.map((assetUid) => ({ assetUid, ...scopeRules })),
              [],
            )
          : patchListing(listingUid, [], batch));
    },
    onError: (error, { listingUid }) =>
      notifyError(queryMessages.updateFailed(cachedAssessmentName(client, listingUid)), error),
    onSuccess(_nothing, edit) {
      const { rows, listingUid, isListed } = edit;
      refetch(rows);
      const { addedTo, removedFrom } = queryMessages.asset;
      notify((isListed ? addedTo : removedFrom)(rows.length, cachedAssessmentName(client, listingUid)), {
        undo: () => void undo(edit),
      });
    },
  });
}

export function findListing({ listings }: Pick<AssetRow, 'listings'>, listingUid: string) {
  return listings.find((listing) => listing.listingUid === listingUid);
}
