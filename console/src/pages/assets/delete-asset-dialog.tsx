import { Text } from '@mantine/core';
import type { Asset } from '../../queries/client.ts';
import { useDeleteAsset } from '../../queries/edit-asset.ts';
import { pluralize } from '../../components/pluralize.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.tsx';

interface DeleteAssetDialogProps {
  asset: Asset;
  onClose: () => void;
  onDeleted: () => void;
}

/** Asks before an asset is deleted, and says what that touches. */
export function DeleteAssetDialog({ asset, onClose, onDeleted }: DeleteAssetDialogProps) {
  const remove = useDeleteAsset();
  return (
    <FormDialog
      title="Delete the asset"
      submitLabel="Delete"
      isDestructive
      isPending={remove.isPending}
      error={remove.error === null ? undefined : `It was not deleted: ${errorText(remove.error)}`}
      onClose={onClose}
      onSubmit={() => remove.mutate(asset, { onSuccess: onDeleted })}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        <b>{asset.location}</b> goes with its {pluralize(asset.openPortCount, 'open port')}, their history,
        its scope rules and its tags. Its{' '}
        {pluralize(asset.vulnerabilityCount, 'open vulnerability', 'open vulnerabilities')} stay, without it.
        This cannot be undone.
      </Text>
    </FormDialog>
  );
}
