import { Button, Checkbox, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.ts';
import { Warning } from '../../components/section.tsx';
import { toScopeCandidate, useAddToScope } from '../../queries/add-to-scope.ts';
import { assetsOutsideScopeQuery } from '../../queries/assessment-scope.ts';
import type { AssetRow } from '../../queries/assets.ts';
import { useAssetPermissions } from '../../session/permissions.ts';
import { scopeMessages as messages } from './messages.ts';

/** Says that findings or imports of an assessment have assets outside its scope, and lets one choose which to add. */
export function OutsideScopeNote({ uid }: { uid: string }) {
  const { data } = useQuery(assetsOutsideScopeQuery(uid));
  const { list: canList, writeTo } = useAssetPermissions();
  const [isOpen, { open, close }] = useDisclosure();
  if (data === undefined || data.total === 0) return null;
  // Operation 11 passes over an asset that the user can only read.
  const addable = canList(uid) ? data.assets.filter(writeTo) : [];
  return (
    <Warning isAlert>
      <b>{messages.outside(data.total)}.</b> {messages.outsideHint}
      {addable.length > 0 && (
        <Button size="xs" variant="default" display="block" mt={8} onClick={open}>
          {messages.chooseOutside}
        </Button>
      )}
      {isOpen && (
        <OutsideScopeDialog
          uid={uid}
          assets={addable}
          moreCount={data.total - data.assets.length}
          onClose={close}
        />
      )}
    </Warning>
  );
}

interface OutsideScopeDialogProps {
  uid: string;
  assets: readonly AssetRow[];
  /** How many were not read. */
  moreCount: number;
  onClose: () => void;
}

function OutsideScopeDialog({ uid, assets, moreCount, onClose }: OutsideScopeDialogProps) {
  const [selected, setSelected] = useState<readonly string[]>([]);
  const add = useAddToScope(uid, assets[0]?.organizationUid ?? '');
  return (
    <FormDialog
      title={messages.chooseOutside}
      submitLabel={messages.addAssets(selected.length)}
      isPending={add.isPending}
      isDisabled={selected.length === 0}
      error={errorText(add.error)}
      onClose={onClose}
      onSubmit={() =>
        add.mutate(
          {
            selected: assets
              .filter((asset) => selected.includes(asset.uid))
              .map((asset) => toScopeCandidate(asset, uid)),
            pasted: [],
            rules: [],
            createsMissing: false,
          },
          { onSuccess: onClose },
        )
      }
    >
      <Checkbox
        label={messages.allOutside(assets.length)}
        checked={selected.length === assets.length}
        indeterminate={selected.length > 0 && selected.length < assets.length}
        onChange={(event) => setSelected(event.currentTarget.checked ? assets.map((asset) => asset.uid) : [])}
      />
      <Checkbox.Group
        label={messages.outsideAssets}
        value={[...selected]}
        onChange={(values) => setSelected(values)}
      >
        <Stack gap="xs" mt="xs" mah={320} style={{ overflowY: 'auto' }}>
          {assets.map((asset) => (
            <Checkbox
              key={asset.uid}
              value={asset.uid}
              label={<bdi>{asset.location ?? asset.name}</bdi>}
              description={asset.name === asset.location ? undefined : asset.name}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      {moreCount > 0 && <DimmedText>{messages.moreOutside(moreCount)}</DimmedText>}
    </FormDialog>
  );
}
