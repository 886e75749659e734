import { Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { assetQuery as assetOf, type AssetEdit, useEditAsset } from '../../queries/assets.ts';
import type { Asset } from '../../queries/client.ts';
import { useApiForm } from '../../components/field-errors.ts';
import { ConflictAlert, FormDialog } from '../../components/form-dialog.tsx';
import { assetDialogMessages as messages } from './messages.ts';

interface EditAssetDialogProps {
  asset: Asset & { version: string };
  onClose: () => void;
}

/** Edits an asset. If someone else changed it, the user chooses which version to keep. */
export function EditAssetDialog({ asset, onClose }: EditAssetDialogProps) {
  // A refetch does not change the form.
  const [original, setOriginal] = useState(asset);
  const client = useQueryClient();
  const edit = useEditAsset();
  const { values, setValues, field, rest, isConflict } = useApiForm(
    formValues(asset),
    edit.error,
    'location',
  );
  const hasLocation = asset.assetType === 'host' || asset.assetType === 'webapp';
  const set: AssetEdit = Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => (hasLocation || name !== 'location') && value !== original[name as keyof AssetEdit],
    ),
  );
  const save = (overwrites: boolean) => edit.mutate({ original, set, overwrites }, { onSuccess: onClose });
  const reload = async () => {
    const latest = await client.fetchQuery({ ...assetOf(asset.uid), staleTime: 0 });
    setOriginal(latest);
    setValues(formValues(latest));
    edit.reset();
  };
  return (
    <FormDialog
      title={messages.editTitle}
      submitLabel="Save"
      size="lg"
      isPending={edit.isPending}
      error={rest}
      onSubmit={() => (Object.keys(set).length > 0 ? save(false) : onClose())}
      onClose={onClose}
    >
      {isConflict && (
        <ConflictAlert title={messages.conflict} onTheirs={reload} onMine={async () => save(true)} />
      )}
      {hasLocation && (
        <TextInput
          label={asset.assetType === 'host' ? messages.hostLocation : 'URL'}
          data-autofocus
          required
          maxLength={2_048}
          {...field('location')}
        />
      )}
      <TextInput
        label="Name"
        data-autofocus={!hasLocation || undefined}
        maxLength={255}
        required={!hasLocation}
        {...field('name')}
      />
      <Textarea
        label="Description"
        description={messages.markdown}
        autosize
        minRows={5}
        maxRows={16}
        maxLength={65_536}
        {...field('description')}
      />
    </FormDialog>
  );
}

const formValues = ({ location, name, description }: Asset) => ({ location, name, description });
