import { useMutation, useQueryClient } from '@tanstack/react-query';
import { tell, tellError } from '../components/notifications.tsx';
import { ASSETS } from './assets.ts';
import { api, type Asset } from './client.ts';

export type AssetEdit = Partial<Pick<Asset, 'name' | 'location' | 'description'>>;

interface Edit {
  /** As it was read. */
  before: Asset & { version: string };
  set: AssetEdit;
  /** Whether it is written though somebody changed it meanwhile. */
  anyway?: boolean;
}

const patch = async (uid: string, set: AssetEdit, version: string) => {
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
    void client.resetQueries({ queryKey: ASSETS });
  };
  const undo = async ({ before, set }: Edit, version: string) => {
    const former = Object.fromEntries(
      Object.keys(set).map((name) => [name, before[name as keyof AssetEdit]]),
    );
    try {
      show(await patch(before.uid, former, version));
      tell('The change was taken back.');
    } catch (error) {
      tellError('It could not be undone', error);
    }
  };
  return useMutation({
    mutationFn: ({ before, set, anyway = false }: Edit) =>
      patch(before.uid, set, anyway ? '*' : before.version),
    onSuccess(now, edit) {
      show(now);
      tell(`${now.location} changed.`, { undo: () => void undo(edit, now.version) });
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
      void client.resetQueries({ queryKey: ASSETS });
      tell(`${location} deleted.`);
    },
  });
}
