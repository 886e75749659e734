import { Alert, Anchor, Badge, Button, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { asset, ASSET_TYPES } from '../../queries/assets.ts';
import { AssayError } from '../../queries/client.ts';
import { useShortcuts } from '../../app/shortcuts.tsx';
import { CriticalityBadge } from '../../components/criticality-badge.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { errorText } from '../../components/notifications.tsx';
import { PageLayout } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useAssetPermissions } from '../../session/permissions.ts';
import { AssetListings } from './asset-listings.tsx';
import { AssetPorts } from './asset-ports.tsx';
import { AssetVulnerabilities } from './asset-vulnerabilities.tsx';
import { EditAssetsDialog, type AssetEditKind } from './edit-assets-dialogs.tsx';
import { DeleteAssetDialog } from './delete-asset-dialog.tsx';
import { EditAssetDialog } from './edit-asset-dialog.tsx';
import classes from './asset-page.module.css';

const MarkdownText = lazy(() => import('../../components/markdown.tsx'));

type OpenDialog = AssetEditKind | 'edit' | 'delete';

/** One asset: what is known of it, its ports and its vulnerabilities. */
export function AssetPage() {
  const { uid } = useParams({ from: '/assets/$uid' });
  const { data, error } = useQuery(asset(uid));
  const rights = useAssetPermissions();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<OpenDialog>();
  useShortcuts({
    ...(rights.write
      ? {
          e: { label: 'Criticality', run: () => setAsked('criticality') },
          l: { label: 'Listing', run: () => setAsked('listing') },
          w: { label: 'Edit', run: () => setAsked('edit') },
        }
      : {}),
    ...(rights.tag ? { t: { label: 'Tags', run: () => setAsked('tags') } } : {}),
  });
  if (error instanceof AssayError && error.status === 404)
    return <EmptyState title="No such asset">It was deleted, or you cannot reach it.</EmptyState>;
  if (error !== null) return <Alert color="red">{errorText(error)}</Alert>;
  if (data === undefined) return <Loader m="md" size="sm" aria-label="Reading" />;
  const close = () => setAsked(undefined);
  return (
    <PageLayout
      title={data.location}
      actions={
        <>
          {rights.write && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPencil size={16} aria-hidden />}
              onClick={() => setAsked('edit')}
            >
              Edit
            </Button>
          )}
          {rights.organizationWide && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconTrash size={16} aria-hidden />}
              onClick={() => setAsked('delete')}
            >
              Delete
            </Button>
          )}
        </>
      }
      toolbar={
        <Group gap="xs">
          <Anchor component={Link} to="/assets" size="sm">
            Assets
          </Anchor>
          <Text size="sm" c="dimmed">
            {ASSET_TYPES[data.assetType]}
          </Text>
        </Group>
      }
    >
      <Stack gap="md" className={classes.page}>
        <section className={classes.sheet} aria-label="Facts">
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
                    title="Change the criticality"
                    onClick={() => setAsked('criticality')}
                  >
                    <CriticalityBadge criticality={data.criticality} />
                  </Button>
                ) : (
                  <CriticalityBadge criticality={data.criticality} />
                )}
              </DescriptionItem>
              <DescriptionItem name="Organization">{data.organizationUid}</DescriptionItem>
              <DescriptionItem name="First seen">
                {data.firstSeen === null ? 'by no scan' : <Time at={data.firstSeen} exact />}
              </DescriptionItem>
              <DescriptionItem name="Last seen">
                {data.lastSeen === null ? 'by no scan' : <Time at={data.lastSeen} exact />}
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
                  onClick={() => setAsked('tags')}
                >
                  Change tags
                </Button>
              )}
            </Group>
            {data.description !== '' && (
              <Text component="div" size="sm" style={{ overflowWrap: 'anywhere' }}>
                <Suspense fallback={<Loader size="sm" />}>
                  <MarkdownText>{data.description}</MarkdownText>
                </Suspense>
              </Text>
            )}
          </Stack>
        </section>
        <Section title="Listings">
          <AssetListings asset={data} onAdd={() => setAsked('listing')} />
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
      {asked === 'edit' && <EditAssetDialog asset={data} onClose={close} />}
      {asked === 'delete' && (
        <DeleteAssetDialog asset={data} onClose={close} onDeleted={() => void navigate({ to: '/assets' })} />
      )}
      {asked !== undefined && asked !== 'edit' && asked !== 'delete' && (
        <EditAssetsDialog kind={asked} rows={[data]} onClose={close} />
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
