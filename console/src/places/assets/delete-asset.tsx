import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { Asset } from '../../api/client.ts';
import { useDeleteAsset } from '../../api/one-asset.ts';
import { errorText } from '../../parts/notices.tsx';

interface DeleteAssetProps {
  asset: Asset;
  onClose: () => void;
  onDeleted: () => void;
}

/** Asks before an asset is deleted, and says what that touches. */
export function DeleteAsset({ asset, onClose, onDeleted }: DeleteAssetProps) {
  const remove = useDeleteAsset();
  return (
    <Modal opened onClose={onClose} title="Delete the asset" size="md">
      <Stack gap="sm">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <b>{asset.location}</b> goes with its {asset.openPortCount} open ports, their history, its scope
          rules and its tags. Its {asset.vulnerabilityCount} open vulnerabilities stay, without it. This
          cannot be undone.
        </Text>
        {remove.error !== null && (
          <Alert color="red" title="It was not deleted">
            {errorText(remove.error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={onClose}>
            Cancel
          </Button>
          <Button
            color="red"
            loading={remove.isPending}
            onClick={() => remove.mutate(asset, { onSuccess: onDeleted })}
          >
            Delete
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
