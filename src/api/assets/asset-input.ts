import { type Static, Type } from 'typebox';
import { ASSET_TYPES, CRITICALITIES, WRITABLE_BY } from '../../domain/assets/asset-enums.ts';
import { MAX_LOCATION_LENGTH } from '../../domain/assets/asset-locations.ts';
import type { AssetInput } from '../../domain/assets/create-assets.ts';
import type { PartialInput } from '../../domain/shared/partial-input.ts';
import { MAX_TEXT, nullable } from '../../http/schemas.ts';

export const MAX_ASSETS_PER_REQUEST = 1_000;
const MAX_DESCRIPTION_LENGTH = 65_536;

const assetFields = {
  name: Type.String({
    maxLength: MAX_TEXT,
    description: 'At most 255 characters. Required unless the asset is a host or a web application.',
    examples: ['ams-printer-02.acme.example'],
  }),
  location: Type.String({
    maxLength: MAX_LOCATION_LENGTH,
    description:
      'The IPv4 or IPv6 address or host name of a host, or the http or https URL of a web application. Required for both; omit it for other types, whose location is their name.',
    examples: ['192.0.2.77'],
  }),
  description: Type.String({
    maxLength: MAX_DESCRIPTION_LENGTH,
    description: 'Markdown.',
    examples: ['Second floor.'],
  }),
  criticality: Type.Enum([...CRITICALITIES], { type: 'string', examples: ['low'] }),
  writableBy: Type.Enum([...WRITABLE_BY], {
    type: 'string',
    description: 'The users who may edit the asset. Must include the caller.',
    examples: ['any'],
  }),
};

export const NewAssetSchema = Type.Object(
  {
    organizationUid: Type.String({ pattern: '^[-_0-9a-z]{1,50}$', maxLength: MAX_TEXT, examples: ['acme'] }),
    assetType: Type.Enum([...ASSET_TYPES], { type: 'string', examples: ['host'] }),
    location: Type.Optional(assetFields.location),
    name: Type.Optional(assetFields.name),
    description: Type.Optional(assetFields.description),
    criticality: Type.Optional({ ...assetFields.criticality, default: 'undefined' }),
    writableBy: Type.Optional({ ...assetFields.writableBy, default: 'any' }),
    listingUid: Type.Optional(
      Type.String({
        pattern: '^[-_0-9a-z]{1,50}$',
        maxLength: MAX_TEXT,
        description: 'The listing to add the asset to. Required when the token has only listing scopes.',
        examples: ['acme-web-2026'],
      }),
    ),
  },
  { title: 'New asset' },
);

export const UpdateAssetSchema = Type.Object(
  {
    location: Type.Optional(nullable(assetFields.location)),
    name: Type.Optional(nullable(assetFields.name)),
    description: Type.Optional(nullable(assetFields.description)),
    criticality: Type.Optional(nullable(assetFields.criticality)),
    writableBy: Type.Optional(nullable(assetFields.writableBy)),
  },
  { title: 'Asset change', examples: [{ criticality: 'high', description: 'The gateway in Amsterdam.' }] },
);

type NewAssetBody = Static<typeof NewAssetSchema>;

/** Maps one asset, or each of an array, to the input of the domain. */
export function toAssetInputs(body: NewAssetBody | readonly NewAssetBody[]): AssetInput[];
export function toAssetInputs(
  body: PartialInput<NewAssetBody | readonly NewAssetBody[]>,
): PartialInput<AssetInput>[];
export function toAssetInputs(
  body: PartialInput<NewAssetBody | readonly NewAssetBody[]>,
): PartialInput<AssetInput>[] {
  return [body].flat().map(({ organizationUid, assetType, listingUid, ...asset }) => ({
    ...asset,
    organization: organizationUid,
    type: assetType,
    listing: listingUid,
  }));
}

/**
 * Returns a function from the index of an asset to the prefix of its properties in errors: `2.` in an array, otherwise
 * empty.
 */
export function propertyPrefixOf(body: object): (index: number) => string {
  return Array.isArray(body) ? (index) => `${index}.` : () => '';
}
