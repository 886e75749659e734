import type { NewAsset } from '../domain/assets/insert-assets.ts';
import type { ASSET_TYPES, CRITICALITIES, WRITABLE_BY } from '../domain/assets/asset-enums.ts';
import type { SeededRandom } from './random.ts';
import { toHostName } from './affected-locations.ts';

type AssetType = (typeof ASSET_TYPES)[number];

const SITES = ['ams', 'fra', 'dub', 'lis', 'waw'] as const;
const HOST_ROLES = [
  'web',
  'app',
  'db',
  'mail',
  'vpn',
  'dns',
  'proxy',
  'build',
  'files',
  'jump',
  'queue',
] as const;
const STAGES = [
  '',
  'staging.',
  'test.',
  'legacy.',
  'eu.',
  'uk.',
  'us.',
  'preview.',
  'api.',
  'beta.',
] as const;
const NETWORKS = [
  'office',
  'server',
  'guest',
  'management',
  'warehouse',
  'voice',
  'payment',
  'partner',
] as const;
const CLOUDS = ['AWS', 'Azure', 'Google Cloud'] as const;
const CLOUD_USES = [
  'production',
  'staging',
  'analytics',
  'backup',
  'sandbox',
  'shared services',
  'security',
  'archive',
  'development',
  'training',
] as const;
const PLATFORMS = ['Android', 'iOS'] as const;

/** Share of each type, in percent. */
const SHARES: readonly (readonly [type: AssetType, share: number])[] = [
  ['host', 62],
  ['webapp', 20],
  ['network', 8],
  ['cloudaccount', 6],
  ['mobileapp', 4],
];
const CRITICALITY: readonly (typeof CRITICALITIES)[number][] = [
  'high',
  'medium',
  'medium',
  'low',
  'low',
  'undefined',
];
const WRITABLE: readonly (typeof WRITABLE_BY)[number][] = ['any', 'any', 'any', 'any', 'client', 'boss'];

export interface InventorySpec {
  organization: string;
  domain: string;
  /** Second octet of all IP addresses: `10.NETWORK.x.y`. */
  network: number;
  /** Names of the organization's applications. */
  products: readonly string[];
}

/**
 * Returns `count` assets of an organization. Their names are unique up to 50 assets per product, and up to 500 in
 * total.
 */
export function buildInventory(
  { organization, domain, network, products }: InventorySpec,
  count: number,
  random: SeededRandom,
): NewAsset[] {
  const counts = new Map<AssetType, number>();
  return Array.from({ length: count }, (_nothing, index): NewAsset => {
    const type = assetTypeAt(index);
    const number = counts.get(type) ?? 0;
    counts.set(type, number + 1);
    return {
      organization,
      type,
      name: assetName(type, number, domain, products),
      location: assetLocation(type, number, { domain, network, products }),
      criticality: random.pick(CRITICALITY),
      writableBy: random.pick(WRITABLE),
    };
  });
}

function assetName(type: AssetType, number: number, domain: string, products: readonly string[]): string {
  const [product, round] = roundRobin(products, number);
  switch (type) {
    case 'host': {
      const [site, siteRound] = roundRobin(SITES, number);
      const [role, roleRound] = roundRobin(HOST_ROLES, siteRound);
      return `${site}-${role}-${String(roleRound + 1).padStart(2, '0')}.${domain}`;
    }
    case 'webapp': {
      const [stage] = roundRobin(STAGES, round);
      return stage === '' ? product : `${product} (${stage.slice(0, -1)})`;
    }
    case 'network': {
      const [site, siteRound] = roundRobin(SITES, number);
      return `${site.toUpperCase()} ${roundRobin(NETWORKS, siteRound)[0]} network`;
    }
    case 'cloudaccount': {
      const [cloud, cloudRound] = roundRobin(CLOUDS, number);
      return `${cloud} ${roundRobin(CLOUD_USES, cloudRound)[0]}`;
    }
    case 'mobileapp':
      return `${product} for ${roundRobin(PLATFORMS, round)[0]}`;
  }
}

/** Returns the location of a host or web application; other types have none. */
function assetLocation(
  type: AssetType,
  number: number,
  { domain, network, products }: Pick<InventorySpec, 'domain' | 'network' | 'products'>,
): string | undefined {
  // Starts at 10.x.1.10, because 10.x.0.0/24 is reserved for the assets in the manifest.
  if (type === 'host') return `10.${network}.${1 + Math.floor(number / 200)}.${10 + (number % 200)}`;
  if (type !== 'webapp') return undefined;
  const [product, round] = roundRobin(products, number);
  return `https://${toHostName(product)}.${roundRobin(STAGES, round)[0]}${domain}`;
}

/** Returns the item at a position of a list that repeats endlessly, and the number of complete rounds. */
function roundRobin<T>(list: readonly T[], number: number): [item: T, round: number] {
  return [list[number % list.length] as T, Math.floor(number / list.length)];
}

function assetTypeAt(index: number): AssetType {
  // 37 and 100 are coprime, so every 100 assets contain each type according to its share.
  let percentile = (index * 37) % 100;
  for (const [type, share] of SHARES) {
    if (percentile < share) return type;
    percentile -= share;
  }
  return 'host';
}
