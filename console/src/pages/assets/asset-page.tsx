import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { assetQuery, ASSET_TYPE_LABELS, useDeleteAsset } from '../../queries/assets.ts';
import { type Asset } from '../../queries/client.ts';
import { useShortcuts } from '../../app/shortcuts.tsx';
import { fillSentence } from '../../components/fill-sentence.ts';
import { CriticalityMark } from '../../components/marks.tsx';
import { OrganizationName, TagDot } from '../../components/identity-marks.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { errorText } from '../../components/notifications.ts';
import { DeleteButton, EditButton } from '../../components/page-actions.tsx';
import { PageFallback } from '../../components/page-fallback.tsx';
import { PageLayout } from '../../components/page.tsx';
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

/** The page of an asset: details, listings, ports and vulnerabilities. */
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
          {permissions.organizationWide && <DeleteButton onClick={() => setDialog('delete')} />}
        </>
      }
      toolbar={
        <Group gap="xs">
          <Anchor component={Link} to="/assets" size="sm">
            Assets
          </Anchor>
          <DimmedText>{ASSET_TYPE_LABELS[data.assetType]}</DimmedText>
        </Group>
      }
    >
      <Stack gap="md" className={classes.page}>
        <AssetDetails asset={data} canWrite={canWrite} canTag={canTag} onOpen={setDialog} />
        <Section title="Listings">
          <AssetListings asset={data} onAdd={() => setDialog('listing')} />
        </Section>
        {data.assetType === 'host' && (
          <Section title="Ports">
            <AssetPorts asset={data} />
          </Section>
        )}
        <Section title="Vulnerabilities">
          <AssetVulnerabilities uid={uid} />
        </Section>
      </Stack>
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

interface AssetDetailsProps {
  asset: Asset;
  canWrite: boolean;
  canTag: boolean;
  onOpen: (dialog: OpenDialog) => void;
}

function AssetDetails({ asset, canWrite, canTag, onOpen }: AssetDetailsProps) {
  return (
    <section className={classes.sheet} aria-label={messages.details}>
      <Stack gap="md">
        <DescriptionList>
          {asset.name !== '' && asset.name !== asset.location && (
            <DescriptionItem name="Name">
              <bdi>{asset.name}</bdi>
            </DescriptionItem>
          )}
          <DescriptionItem name="Criticality">
            {canWrite ? (
              <Button
                size="xs"
                variant="default"
                title={messages.changeCriticality}
                onClick={() => onOpen('criticality')}
              >
                <CriticalityMark criticality={asset.criticality} withLabel />
              </Button>
            ) : (
              <CriticalityMark criticality={asset.criticality} withLabel />
            )}
          </DescriptionItem>
          <DescriptionItem name="Organization">
            <OrganizationName uid={asset.organizationUid} />
          </DescriptionItem>
          <DescriptionItem name={messages.firstSeen}>
            {asset.firstSeen === null ? messages.neverSeen : <Time at={asset.firstSeen} exact />}
          </DescriptionItem>
          <DescriptionItem name={messages.lastSeen}>
            {asset.lastSeen === null ? messages.neverSeen : <Time at={asset.lastSeen} exact />}
          </DescriptionItem>
          <DescriptionItem name="Added">
            <Time at={asset.createdAt} exact />
          </DescriptionItem>
        </DescriptionList>
        <Group gap="xs" aria-label="Tags" role="group">
          {asset.tags.map(({ uid: tag, name }) => (
            <TagDot key={tag} id={tag} name={name} />
          ))}
          {canTag && (
            <Button
              size="xs"
              variant="subtle"
              ml={asset.tags.length === 0 ? -10 : 0}
              onClick={() => onOpen('tags')}
            >
              {messages.editTags}
            </Button>
          )}
        </Group>
        {asset.description !== '' && (
          <Text component="div" size="sm" style={{ overflowWrap: 'anywhere' }}>
            <LazyMarkdown>{asset.description}</LazyMarkdown>
          </Text>
        )}
      </Stack>
    </section>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.sheet} aria-label={title}>
      <Title order={2} size="h5" mb="sm">
        {title}
      </Title>
      {children}
    </section>
  );
}

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
