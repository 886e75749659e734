import { Alert, Anchor, Badge, Button, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { asset as assetQuery, ASSET_TYPE_LABELS } from '../../queries/assets.ts';
import { AssayError, type Asset } from '../../queries/client.ts';
import { useDeleteAsset } from '../../queries/edit-asset.ts';
import { useShortcuts } from '../../app/shortcuts.tsx';
import { fillSentence } from '../../components/fill-sentence.ts';
import { CriticalityBadge } from '../../components/criticality-badge.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { errorText } from '../../components/notifications.tsx';
import { DeleteButton, EditButton } from '../../components/page-actions.tsx';
import { PageLayout } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useAssetPermissions } from '../../session/permissions.ts';
import { AssetListings } from './asset-listings.tsx';
import { AssetPorts } from './asset-ports.tsx';
import { AssetVulnerabilities } from './asset-vulnerabilities.tsx';
import { EditAssetsDialog, type AssetEditKind } from './edit-assets-dialogs.tsx';
import { EditAssetDialog } from './edit-asset-dialog.tsx';
import { assetMessages as messages } from './messages.ts';
import { LazyMarkdown } from '../../components/lazy-markdown.tsx';
import classes from './asset-page.module.css';

type OpenDialog = AssetEditKind | 'edit' | 'delete';

/** The page of an asset: details, listings, ports and vulnerabilities. */
export function AssetPage() {
  const { uid } = useParams({ from: '/assets/$uid' });
  const { data, error } = useQuery(assetQuery(uid));
  const rights = useAssetPermissions();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<OpenDialog>();
  useShortcuts({
    ...(rights.write
      ? {
          e: { label: messages.shortcuts.criticality, run: () => setDialog('criticality') },
          l: { label: messages.shortcuts.listing, run: () => setDialog('listing') },
          w: { label: messages.shortcuts.edit, run: () => setDialog('edit') },
        }
      : {}),
    ...(rights.tag ? { t: { label: messages.shortcuts.tags, run: () => setDialog('tags') } } : {}),
  });
  if (error instanceof AssayError && error.status === 404)
    return <EmptyState title={messages.notFound}>{messages.notFoundHint}</EmptyState>;
  if (error !== null) return <Alert color="red">{errorText(error)}</Alert>;
  if (data === undefined) return <Loader m="md" size="sm" aria-label="Loading" />;
  const close = () => setDialog(undefined);
  return (
    <PageLayout
      title={data.location}
      actions={
        <>
          {rights.write && <EditButton onClick={() => setDialog('edit')} />}
          {rights.organizationWide && <DeleteButton onClick={() => setDialog('delete')} />}
        </>
      }
      toolbar={
        <Group gap="xs">
          <Anchor component={Link} to="/assets" size="sm">
            Assets
          </Anchor>
          <Text size="sm" c="dimmed">
            {ASSET_TYPE_LABELS[data.assetType]}
          </Text>
        </Group>
      }
    >
      <Stack gap="md" className={classes.page}>
        <section className={classes.sheet} aria-label={messages.details}>
          <Stack gap="md">
            <DescriptionList>
              {data.name !== '' && data.name !== data.location && (
                <DescriptionItem name="Name">
                  <bdi>{data.name}</bdi>
                </DescriptionItem>
              )}
              <DescriptionItem name="Criticality">
                {rights.write ? (
                  <Button
                    size="compact-sm"
                    variant="default"
                    title={messages.changeCriticality}
                    onClick={() => setDialog('criticality')}
                  >
                    <CriticalityBadge criticality={data.criticality} />
                  </Button>
                ) : (
                  <CriticalityBadge criticality={data.criticality} />
                )}
              </DescriptionItem>
              <DescriptionItem name="Organization">{data.organizationUid}</DescriptionItem>
              <DescriptionItem name={messages.firstSeen}>
                {data.firstSeen === null ? messages.neverSeen : <Time at={data.firstSeen} exact />}
              </DescriptionItem>
              <DescriptionItem name={messages.lastSeen}>
                {data.lastSeen === null ? messages.neverSeen : <Time at={data.lastSeen} exact />}
              </DescriptionItem>
              <DescriptionItem name="Added">
                <Time at={data.createdAt} exact />
              </DescriptionItem>
            </DescriptionList>
            <Group gap={4} aria-label="Tags" role="group">
              {data.tags.map(({ uid: tag, name }) => (
                <Badge key={tag} variant="default" tt="none" fw={400} maw="100%">
                  {name}
                </Badge>
              ))}
              {rights.tag && (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  ml={data.tags.length === 0 ? -8 : 0}
                  onClick={() => setDialog('tags')}
                >
                  {messages.editTags}
                </Button>
              )}
            </Group>
            {data.description !== '' && (
              <Text component="div" size="sm" style={{ overflowWrap: 'anywhere' }}>
                <LazyMarkdown>{data.description}</LazyMarkdown>
              </Text>
            )}
          </Stack>
        </section>
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

/** Confirms the deletion of an asset and lists what is deleted with it. */
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
