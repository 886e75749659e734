import { Alert, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { asset as assetOf } from '../../queries/assets.ts';
import { AssayError, type Asset } from '../../queries/client.ts';
import { type AssetEdit, useEditAsset } from '../../queries/edit-asset.ts';
import { Dialog } from '../../components/dialog.tsx';
import { errorText } from '../../components/notifications.tsx';

interface EditAssetDialogProps {
  asset: Asset & { version: string };
  onClose: () => void;
}

const FIELDS = ['location', 'name', 'description'] as const;

/** What is written of an asset. Where somebody else changed it meanwhile, one chooses whose words stay. */
export function EditAssetDialog({ asset, onClose }: EditAssetDialogProps) {
  // What came meanwhile does not change what is being written.
  const [original, setBefore] = useState(asset);
  const [values, setValues] = useState<Required<AssetEdit>>(asset);
  const client = useQueryClient();
  const edit = useEditAsset();
  const located = asset.assetType === 'host' || asset.assetType === 'webapp';
  const set = Object.fromEntries(
    FIELDS.filter((field) => (located || field !== 'location') && values[field] !== original[field]).map(
      (field) => [field, values[field]],
    ),
  );
  const { error } = edit;
  const faults = error instanceof AssayError ? error.fieldErrors : [];
  const faultOf = (field: string) =>
    faults.find(({ property }) => property === field)?.message ??
    (error instanceof AssayError && error.status === 409 && field === 'location' ? error.message : undefined);
  const isOutdated = error instanceof AssayError && error.status === 412;
  const save = (overwrites: boolean) => edit.mutate({ original, set, overwrites }, { onSuccess: onClose });
  const reload = async () => {
    const now = await client.fetchQuery({ ...assetOf(asset.uid), staleTime: 0 });
    setBefore(now);
    setValues(now);
    edit.reset();
  };
  const input = (field: keyof AssetEdit) => ({
    value: values[field],
    error: faultOf(field),
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget;
      setValues((now) => ({ ...now, [field]: value }));
    },
  });
  return (
    <Dialog onClose={onClose} title="Edit the asset" size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (Object.keys(set).length > 0) save(false);
          else onClose();
        }}
      >
        <Stack gap="sm">
          {located && (
            <TextInput
              label={asset.assetType === 'host' ? 'Address or host name' : 'URL'}
              data-autofocus
              required
              maxLength={2_048}
              {...input('location')}
            />
          )}
          <TextInput label="Name" maxLength={255} required={!located} {...input('name')} />
          <Textarea
            label="Description"
            description="Markdown"
            autosize
            minRows={5}
            maxRows={16}
            maxLength={65_536}
            {...input('description')}
          />
          {isOutdated && (
            <Alert color="yellow" title="Somebody changed it meanwhile">
              <Stack gap="xs">
                <Text size="sm">Nothing of yours is saved yet.</Text>
                <Group gap="xs">
                  <Button size="compact-sm" variant="default" onClick={() => void reload()}>
                    Take theirs
                  </Button>
                  <Button size="compact-sm" onClick={() => save(true)}>
                    Save mine over it
                  </Button>
                </Group>
              </Stack>
            </Alert>
          )}
          {error !== null && !isOutdated && faults.length === 0 && (
            <Alert color="red">{errorText(error)}</Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={edit.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
