import { Text } from '@mantine/core';
import type { Asset } from '../../queries/client.ts';
import { useDeleteAsset } from '../../queries/edit-asset.ts';
import { counted } from '../../components/pluralize.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.tsx';

interface DeleteAssetProps {
  asset: Asset;
  onClose: () => void;
  onDeleted: () => void;
}

/** Asks before an asset is deleted, and says what that touches. */
export function DeleteAsset({ asset, onClose, onDeleted }: DeleteAssetProps) {
  const remove = useDeleteAsset();
  return (
    <FormDialog
      title="Delete the asset"
      save="Delete"
      grave
      busy={remove.isPending}
      error={remove.error === null ? undefined : `It was not deleted: ${errorText(remove.error)}`}
      onClose={onClose}
      onSave={() => remove.mutate(asset, { onSuccess: onDeleted })}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        <b>{asset.location}</b> goes with its {counted(asset.openPortCount, 'open port')}, their history, its
        scope rules and its tags. Its{' '}
        {counted(asset.vulnerabilityCount, 'open vulnerability', 'open vulnerabilities')} stay, without it.
        This cannot be undone.
      </Text>
    </FormDialog>
  );
}
