import { useMutation, useQueryClient } from '@tanstack/react-query';
import { notify, notifyError } from '../components/notifications.tsx';
import { ASSETS_KEY } from './assets.ts';
import { api, type Asset } from './client.ts';

export type AssetEdit = Partial<Pick<Asset, 'name' | 'location' | 'description'>>;

interface Edit {
  /** As it was read. */
  original: Asset & { version: string };
  set: AssetEdit;
  /** Whether it is written though somebody changed it meanwhile. */
  overwrites?: boolean;
}

const patchAsset = async (uid: string, set: AssetEdit, version: string) => {
  const { data, response } = await api.PATCH('/api/asset/v2/assets/{assetUid}', {
    params: { path: { assetUid: uid } },
    headers: { 'if-match': version },
    body: set as never,
  });
  return { ...data, version: response.headers.get('etag') ?? '*' };
};

/** Operation 77; what somebody else changed meanwhile is a 412 (`AssayError.status`) and nothing is written. */
export function useEditAsset() {
  const client = useQueryClient();
  const show = (now: Asset & { version: string }) => {
    client.setQueryData(['asset', now.uid], now);
    void client.resetQueries({ queryKey: ASSETS_KEY });
  };
  const undo = async ({ original, set }: Edit, version: string) => {
    const former = Object.fromEntries(
      Object.keys(set).map((name) => [name, original[name as keyof AssetEdit]]),
    );
    try {
      show(await patchAsset(original.uid, former, version));
      notify('The change was taken back.');
    } catch (error) {
      notifyError('It could not be undone', error);
    }
  };
  return useMutation({
    mutationFn: ({ original, set, overwrites = false }: Edit) =>
      patchAsset(original.uid, set, overwrites ? '*' : original.version),
    onSuccess(now, edit) {
      show(now);
      notify(`${now.location} changed.`, { undo: () => void undo(edit, now.version) });
    },
  });
}

/** Operation 78. */
export function useDeleteAsset() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ uid }: Asset) =>
      api.DELETE('/api/asset/v2/assets/{assetUid}', { params: { path: { assetUid: uid } } }),
    onSuccess(_nothing, { uid, location }) {
      client.removeQueries({ queryKey: ['asset', uid] });
      void client.resetQueries({ queryKey: ASSETS_KEY });
      notify(`${location} deleted.`);
    },
  });
}
