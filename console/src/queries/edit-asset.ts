import { useMutation, useQueryClient } from '@tanstack/react-query';
import { notify, notifyError } from '../components/notifications.tsx';
import { ASSETS_KEY } from './assets.ts';
import { api, type Asset } from './client.ts';
import { commonMessages } from '../components/messages.ts';
import { queryMessages } from './messages.ts';

export type AssetEdit = Partial<Pick<Asset, 'name' | 'location' | 'description'>>;

interface Edit {
  original: Asset & { version: string };
  set: AssetEdit;
  /** Whether to overwrite concurrent changes. */
  overwrites?: boolean;
}

const patchAsset = async (uid: string, set: AssetEdit, version: string) => {
  const { data, response } = await api.PATCH('/api/asset/v2/assets/{assetUid}', {
    params: { path: { assetUid: uid } },
    headers: { 'if-match': version },
    body: set,
  });
  return { ...data, version: response.headers.get('etag') ?? '*' };
};

/** Updates an asset (operation 77), with undo. Fails with `AssayError.status` 412 on a concurrent change. */
export function useEditAsset() {
  const client = useQueryClient();
  const show = (now: Asset & { version: string }) => {
    client.setQueryData(['asset', now.uid], now);
    void client.resetQueries({ queryKey: ASSETS_KEY });
  };
  const undo = async ({ original, set }: Edit, version: string) => {
    const previous = Object.fromEntries(
      Object.keys(set).map((name) => [name, original[name as keyof AssetEdit]]),
    );
    try {
      show(await patchAsset(original.uid, previous, version));
      notify(commonMessages.undone);
    } catch (error) {
      notifyError(commonMessages.undoFailed, error);
    }
  };
  return useMutation({
    mutationFn: ({ original, set, overwrites = false }: Edit) =>
      patchAsset(original.uid, set, overwrites ? '*' : original.version),
    onSuccess(now, edit) {
      show(now);
      notify(queryMessages.updated(now.location ?? now.uid), { undo: () => void undo(edit, now.version) });
    },
  });
}

/** Deletes an asset (operation 78). */
export function useDeleteAsset() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ uid }: Asset) =>
      api.DELETE('/api/asset/v2/assets/{assetUid}', { params: { path: { assetUid: uid } } }),
    onSuccess(_nothing, { uid, location }) {
      client.removeQueries({ queryKey: ['asset', uid] });
      void client.resetQueries({ queryKey: ASSETS_KEY });
      notify(queryMessages.deleted(location ?? uid));
    },
  });
}
