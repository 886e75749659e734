import { Alert, Anchor, Badge, Button, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { asset, ASSET_TYPES } from '../../queries/assets.ts';
import { AssayError } from '../../queries/client.ts';
import { useShortcuts } from '../../app/shortcuts.tsx';
import { CriticalityMark } from '../../components/criticality-badge.tsx';
import { Empty } from '../../components/empty-state.tsx';
import { Fact, Facts } from '../../components/description-list.tsx';
import { errorText } from '../../components/notifications.tsx';
import { Place } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useAssetRights } from '../../session/asset-permissions.ts';
import { AssetListings } from './asset-listings.tsx';
import { AssetPorts } from './asset-ports.tsx';
import { AssetVulnerabilities } from './asset-vulnerabilities.tsx';
import { ChangeAssets, type ChangeKind } from './edit-assets-dialogs.tsx';
import { DeleteAsset } from './delete-asset-dialog.tsx';
import { EditAsset } from './edit-asset-dialog.tsx';
import classes from './asset-page.module.css';

const MarkdownText = lazy(() => import('../../components/markdown.tsx'));

type Asked = ChangeKind | 'edit' | 'delete';

/** One asset: what is known of it, its ports and its vulnerabilities. */
export function AssetPage() {
  const { uid } = useParams({ from: '/assets/$uid' });
  const { data, error } = useQuery(asset(uid));
  const rights = useAssetRights();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<Asked>();
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
    return <Empty title="No such asset">It was deleted, or you cannot reach it.</Empty>;
  if (error !== null) return <Alert color="red">{errorText(error)}</Alert>;
  if (data === undefined) return <Loader m="md" size="sm" aria-label="Reading" />;
  const close = () => setAsked(undefined);
  return (
    <Place
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
          {rights.whole && (
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
      tools={
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
            <Facts>
              {data.name !== '' && data.name !== data.location && (
                <Fact name="Name">
                  <bdi>{data.name}</bdi>
                </Fact>
              )}
              <Fact name="Criticality">
                {rights.write ? (
                  <Button
                    size="compact-sm"
                    variant="default"
                    title="Change the criticality"
                    onClick={() => setAsked('criticality')}
                  >
                    <CriticalityMark criticality={data.criticality} />
                  </Button>
                ) : (
                  <CriticalityMark criticality={data.criticality} />
                )}
              </Fact>
              <Fact name="Organization">{data.organizationUid}</Fact>
              <Fact name="First seen">
                {data.firstSeen === null ? 'by no scan' : <Time at={data.firstSeen} exact />}
              </Fact>
              <Fact name="Last seen">
                {data.lastSeen === null ? 'by no scan' : <Time at={data.lastSeen} exact />}
              </Fact>
              <Fact name="Added">
                <Time at={data.createdAt} exact />
              </Fact>
            </Facts>
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
      {asked === 'edit' && <EditAsset asset={data} onClose={close} />}
      {asked === 'delete' && (
        <DeleteAsset asset={data} onClose={close} onDeleted={() => void navigate({ to: '/assets' })} />
      )}
      {asked !== undefined && asked !== 'edit' && asked !== 'delete' && (
        <ChangeAssets kind={asked} rows={[data]} onClose={close} />
      )}
    </Place>
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
