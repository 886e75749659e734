import type { Transaction } from '../db/database.ts';
import { unwrapOutcome } from '../domain/shared/errors.ts';
import { updateListingAssets, planListingUpdate } from '../domain/assessments/update-listing.ts';
import { createAssetTags, planAssetTags } from '../domain/assets/create-asset-tags.ts';
import { createAssets } from '../domain/assets/create-assets.ts';
import { type NewAsset, newAssetUids } from '../domain/assets/insert-assets.ts';
import { TAG_SCOPES } from '../auth/scopes.ts';
import type { SeededRandom } from './random.ts';
import { personChangeContext, type Schedule, type DemoUser } from './schedule.ts';
import { buildInventory } from './inventory.ts';
import type { DemoData } from './manifest.ts';
import { labels } from './labels.ts';
import type { DemoOrganizationSpec } from './organizations.ts';
import { seedScans, type SeedScanHost } from './scans.ts';
import { pickServices, allServices } from './services.ts';
import type { DemoHost, DemoFinding } from './affected-locations.ts';

/** Number of scanned hosts besides the main host. */
const SCANNED = 24;

/** Returns the assets of an organization; those in the manifest come first. */
export function createAssetInputs(spec: DemoOrganizationSpec, random: SeededRandom): NewAsset[] {
  const { organization, domain, network, products, assets: count } = spec;
  const owner = { organization: organization.uid };
  const webapp = (name: string, label: string) => ({
    ...owner,
    type: 'webapp' as const,
    name,
    location: `https://${label}.${domain}`,
  });
  const namedAssets: readonly NewAsset[] = [
    {
      ...owner,
      type: 'host',
      name: `ams-gateway-01.${domain}`,
      location: `10.${network}.0.10`,
      criticality: 'high',
    },
    { ...webapp('Website', 'www'), criticality: 'high' },
    { ...webapp('Forms', 'forms'), criticality: 'medium', writableBy: 'client' },
    { ...webapp('Scan target', 'scan-target'), criticality: 'low', writableBy: 'boss' },
  ];
  const inventory = buildInventory(
    { organization: organization.uid, domain, network, products },
    count - namedAssets.length,
    random,
  );
  return [...namedAssets, ...inventory];
}

/** Returns the scanned hosts besides the main host. */
export function scannedHosts(assets: readonly NewAsset[]): DemoHost[] {
  return assets
    .slice(1)
    .flatMap(({ type, name, location }) =>
      type === 'host' && location !== undefined ? [{ name, address: location }] : [],
    )
    .slice(0, SCANNED);
}

export interface LoadedAssets extends Pick<DemoData<unknown>, 'assets' | 'assetTag'> {
  /** Uids by location. */
  uids: ReadonlyMap<string, string>;
}

/** Creates the assets, the listing and the tags, and schedules scans of the hosts. */
export async function loadAssets(
  { tx, schedule, random }: { tx: Transaction; schedule: Schedule; random: SeededRandom },
  staff: DemoUser,
  organizationId: number,
  { organization, listed, assessment, manyPorts: hasManyPorts, uids }: DemoOrganizationSpec,
  assets: readonly NewAsset[],
  onHosts: readonly DemoFinding[],
  { start, now }: { start: number; now: number },
): Promise<LoadedAssets> {
  const by = personChangeContext(staff, start);
  const newUids = newAssetUids(assets.length, start);
  const assetUids = newUids.map((uid, index) =>
    index === assets.length - 1 ? (uids?.unlisted ?? uid) : (uids?.assets[index] ?? uid),
  );
  const created: Created[] = unwrapOutcome(await createAssets(tx, by, assets, () => '', assetUids));
  const byLocation = new Map(
    assets.map(({ location, name }, index) => [location ?? name, created[index] as Created]),
  );

  const [host, webapp, clientOnly, bossOnly] = created as [Created, Created, Created, Created];
  const watched: SeedScanHost[] = scannedHosts(assets).map(({ address }) => {
    const sure = onHosts.filter(({ asset }) => asset === address).map(({ values }) => Number(values.port));
    return { address, sure, ...pickServices(random, sure) };
  });
  const services = hasManyPorts ? allServices() : pickServices(random);
  watched.unshift({ address: assets[0]?.location ?? '', sure: [], ...services });
  seedScans({ tx, schedule, random }, staff, organizationId, watched, { start, now });

  await updateListingAssets(
    tx,
    by,
    assessment.uid,
    planListingUpdate({
      add: created.slice(0, listed).map(({ uid }, index) => ({
        assetUid: uid,
        scopeRules: index % 20 === 0 ? [{ rule: 'No tests from 08:00 to 18:00 UTC' }] : [],
      })),
    }),
  );
  const tagBy = { ...by, accepted: TAG_SCOPES };
  const newTags = labels().assetTags.map((name, index) => ({
    name,
    assets: created.filter((_asset, position) => position % (index + 3) === 0).map(({ uid }) => uid),
  }));
  const plan = await planAssetTags(tx, tagBy, organization.uid, newTags, uids?.tags);
  const tags = await createAssetTags(tx, tagBy, organization.uid, newTags, plan);
  return {
    assetTag: { uid: tags[0]?.uid ?? '' },
    assets: { host: host.uid, webapp: webapp.uid, clientOnly: clientOnly.uid, bossOnly: bossOnly.uid },
    uids: new Map([...byLocation].map(([location, { uid }]) => [location, uid])),
  };
}

type Created = { id: number; uid: string };
