import { Button, Group, Menu, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { assetQuery, ASSET_TYPE_LABELS, useDeleteAsset } from '../../queries/assets.ts';
import { type Asset } from '../../queries/client.ts';
import { useShortcuts } from '../../app/shortcuts.tsx';
import { fillSentence } from '../../components/fill-sentence.ts';
import { CriticalityMark } from '../../components/marks.tsx';
import { OrganizationName, TagDot } from '../../components/identity-marks.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { errorText } from '../../components/notifications.ts';
import { MoreMenu } from '../../components/more-menu.tsx';
import { commonMessages } from '../../components/messages.ts';
import { EditButton } from '../../components/page-actions.tsx';
import { PageFallback } from '../../components/page-fallback.tsx';
import { PageLayout } from '../../components/page.tsx';
import { Columns, PageSection } from '../../components/section.tsx';
import { OutsideScopePill } from '../../components/vulnerability-pills.tsx';
import { Time } from '../../components/time.tsx';
import { useAssetPermissions } from '../../session/permissions.ts';
import { AssetListings } from './asset-listings.tsx';
import { AssetPorts } from './asset-ports.tsx';
import { AssetVulnerabilities } from './asset-vulnerabilities.tsx';
import { EditAssetsDialog, type AssetEditKind } from './edit-assets-dialog.tsx';
import { EditAssetDialog } from './edit-asset-dialog.tsx';
import { assetMessages as messages } from './messages.ts';
import { LazyMarkdown } from '../../components/lazy-markdown.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import classes from './asset-page.module.css';

type OpenDialog = AssetEditKind | 'edit' | 'delete';

/** The page of an asset: vulnerabilities and ports as tabs; scopes and details beside them. */
export function AssetPage() {
  const { uid } = useParams({ from: '/assets/$uid' });
  const { data, error, refetch } = useQuery(assetQuery(uid));
  const permissions = useAssetPermissions();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<OpenDialog>();
  const canWrite = data !== undefined && permissions.writeTo(data);
  const canTag = data !== undefined && permissions.tagOf(data);
  useShortcuts({
    ...(canWrite
      ? {
          e: { label: messages.shortcuts.criticality, run: () => setDialog('criticality') },
          w: { label: messages.shortcuts.edit, run: () => setDialog('edit') },
        }
      : {}),
    ...(permissions.list()
      ? { l: { label: messages.shortcuts.listing, run: () => setDialog('listing') } }
      : {}),
    ...(canTag ? { t: { label: messages.shortcuts.tags, run: () => setDialog('tags') } } : {}),
  });
  if (error !== null || data === undefined)
    return <PageFallback noun="asset" list="/assets" error={error} refetch={refetch} />;
  const close = () => setDialog(undefined);
  return (
    <PageLayout
      title={data.location}
      actions={
        <>
          {canWrite && <EditButton onClick={() => setDialog('edit')} />}
          {permissions.organizationWide && (
            <MoreMenu>
              <Menu.Item color="red" onClick={() => setDialog('delete')}>
                Delete
              </Menu.Item>
            </MoreMenu>
          )}
        </>
      }
      toolbar={<Identity asset={data} canWrite={canWrite} canTag={canTag} onOpen={setDialog} />}
      isFullWidth
    >
      <Columns
        label={commonMessages.details}
        aside={
          <>
            <PageSection title={messages.scopes}>
              <AssetListings asset={data} onAdd={() => setDialog('listing')} />
            </PageSection>
            <PageSection title={commonMessages.details}>
              <AssetFacts asset={data} />
            </PageSection>
          </>
        }
      >
        <Tabs defaultValue="vulnerabilities" keepMounted={false}>
          <Tabs.List px={8}>
            <Tabs.Tab value="vulnerabilities">{messages.pageTabs.vulnerabilities}</Tabs.Tab>
            {data.assetType === 'host' && <Tabs.Tab value="ports">{messages.pageTabs.ports}</Tabs.Tab>}
          </Tabs.List>
          <Tabs.Panel value="vulnerabilities" className={classes.panel}>
            <AssetVulnerabilities uid={uid} />
          </Tabs.Panel>
          <Tabs.Panel value="ports" className={classes.panel}>
            <AssetPorts asset={data} />
          </Tabs.Panel>
        </Tabs>
      </Columns>
      {dialog === 'edit' && <EditAssetDialog asset={data} onClose={close} />}
      {dialog === 'delete' && (
        <DeleteAssetDialog asset={data} onClose={close} onDeleted={() => void navigate({ to: '/assets' })} />
      )}
      {dialog !== undefined && dialog !== 'edit' && dialog !== 'delete' && (
        <EditAssetsDialog kind={dialog} rows={[data]} onClose={close} />
      )}
    </PageLayout>
  );
}

interface IdentityProps {
  asset: Asset;
  canWrite: boolean;
  canTag: boolean;
  onOpen: (dialog: OpenDialog) => void;
}

/** The type, the name, the criticality and the tags of an asset. */
function Identity({ asset, canWrite, canTag, onOpen }: IdentityProps) {
  const criticality = <CriticalityMark criticality={asset.criticality} withLabel />;
  return (
    <Group gap="xs">
      <DimmedText>{ASSET_TYPE_LABELS[asset.assetType]}</DimmedText>
      {asset.name !== '' && asset.name !== asset.location && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <bdi>{asset.name}</bdi>
        </Text>
      )}
      {canWrite ? (
        <Button
          size="xs"
          variant="default"
          title={messages.changeCriticality}
          onClick={() => onOpen('criticality')}
        >
          {criticality}
        </Button>
      ) : (
        criticality
      )}
      {asset.listings.length === 0 && <OutsideScopePill />}
      <Group gap="xs" aria-label="Tags" role="group">
        {asset.tags.map(({ uid: tag, name }) => (
          <TagDot key={tag} id={tag} name={name} />
        ))}
        {canTag && (
          <Button size="xs" variant="subtle" onClick={() => onOpen('tags')}>
            {messages.editTags}
          </Button>
        )}
      </Group>
    </Group>
  );
}

const AssetFacts = ({ asset }: { asset: Asset }) => (
  <>
    <DescriptionList>
      <DescriptionItem name="Organization">
        <OrganizationName uid={asset.organizationUid} />
      </DescriptionItem>
      <DescriptionItem name="Added">
        <Time at={asset.createdAt} exact />
      </DescriptionItem>
      <DescriptionItem name={messages.firstSeen}>
        {asset.firstSeen === null ? messages.neverSeen : <Time at={asset.firstSeen} exact />}
      </DescriptionItem>
      <DescriptionItem name={messages.lastSeen}>
        {asset.lastSeen === null ? messages.neverSeen : <Time at={asset.lastSeen} exact />}
      </DescriptionItem>
    </DescriptionList>
    {asset.description !== '' && (
      <Text component="div" size="sm" style={{ overflowWrap: 'anywhere' }}>
        <LazyMarkdown>{asset.description}</LazyMarkdown>
      </Text>
    )}
  </>
);

interface DeleteAssetDialogProps {
  asset: Asset;
  onClose: () => void;
  onDeleted: () => void;
}

/** Asks for confirmation, and lists the data that is deleted with the asset. */
function DeleteAssetDialog({ asset, onClose, onDeleted }: DeleteAssetDialogProps) {
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
        {fillSentence(messages.deleteHint(asset.openPortCount, asset.vulnerabilityCount), {
          asset: <b>{asset.location}</b>,
        })}
      </Text>
    </FormDialog>
  );
}
