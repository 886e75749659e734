import { Text } from '@mantine/core';
import type { Asset } from '../../queries/client.ts';
import { useDeleteAsset } from '../../queries/edit-asset.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.tsx';
import { assetMessages as messages } from './messages.ts';

interface DeleteAssetDialogProps {
  asset: Asset;
  onClose: () => void;
  onDeleted: () => void;
}

/** Confirms the deletion of an asset and lists what is deleted with it. */
export function DeleteAssetDialog({ asset, onClose, onDeleted }: DeleteAssetDialogProps) {
  const remove = useDeleteAsset();
  return (
    <FormDialog
      title={messages.deleteTitle}
      submitLabel="Delete"
      isDestructive
      isPending={remove.isPending}
      error={remove.error === null ? undefined : messages.deleteFailed(errorText(remove.error))}
      onClose={onClose}
      onSubmit={() => remove.mutate(asset, { onSuccess: onDeleted })}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        <b>{asset.location}</b>
        {messages.deleteHint(asset.openPortCount, asset.vulnerabilityCount)}
      </Text>
    </FormDialog>
  );
}
