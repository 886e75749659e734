import { type Static, Type } from 'typebox';
import type { Asset } from '../../domain/assets/read-asset.ts';
import { ASSET_TYPES, CRITICALITIES, WRITABLE_BY } from '../../domain/assets/asset-enums.ts';
import { MAX_SCOPE_RULE_LENGTH } from '../../domain/assessments/update-listing.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { DateTimeSchema, MAX_RESULTS, nullable, textSchema } from '../../http/schemas.ts';

export const EXAMPLE_ASSET_UID = '5f0c1e2d3b4a59687786a5b4';

export const AssetScopeRulesSchema = Type.Array(
  Type.Object(
    {
      rule: Type.String({ maxLength: MAX_SCOPE_RULE_LENGTH, examples: ['Only between 22:00 and 06:00 UTC'] }),
    },
    { title: 'Asset scope rule' },
  ),
  { maxItems: MAX_RESULTS },
);

const AssetListingSchema = Type.Object(
  {
    listingUid: Type.String({ maxLength: 50, examples: ['acme-web-2026'] }),
    scopeRules: AssetScopeRulesSchema,
  },
  { title: 'Asset listing' },
);

export const AssetSchema = Type.Object(
  {
    uid: Type.String({ maxLength: 24, examples: [EXAMPLE_ASSET_UID] }),
    organizationUid: Type.String({ maxLength: 50, examples: ['acme'] }),
    assetType: Type.String({ enum: [...ASSET_TYPES], maxLength: 16, examples: ['host'] }),
    name: textSchema('ams-gateway-01.acme.example'),
    location: Type.String({
      maxLength: 2_048,
      description: 'The address of a host or the URL of a web application; for other types, the name.',
      examples: ['192.0.2.10'],
    }),
    description: textSchema('The gateway of the office in Amsterdam.'),
    criticality: Type.String({ enum: [...CRITICALITIES], maxLength: 16, examples: ['high'] }),
    writableBy: Type.String({ enum: [...WRITABLE_BY], maxLength: 8, examples: ['any'] }),
    listings: Type.Array(AssetListingSchema, {
      maxItems: MAX_RESULTS,
      description: 'The listings visible to the caller. In a list, the first 100.',
    }),
    tags: Type.Array(
      Type.Object(
        { uid: Type.String({ maxLength: 24, examples: ['3c1f0e2d4b5a'] }), name: textSchema('dmz') },
        { title: 'Tag of an asset' },
      ),
      { maxItems: MAX_RESULTS, description: 'In a list, the first 100 by name.' },
    ),
    openPortCount: Type.Integer({ minimum: 0, examples: [3] }),
    vulnerabilityCount: Type.Integer({
      minimum: 0,
      description: 'The number of open vulnerabilities of the asset that are visible to the caller.',
      examples: [2],
    }),
    firstSeen: nullable(DateTimeSchema),
    lastSeen: nullable(DateTimeSchema),
    createdAt: DateTimeSchema,
    updatedAt: DateTimeSchema,
  },
  { title: 'Asset' },
);

export function toAssetBody(asset: Asset): Static<typeof AssetSchema> {
  return {
    uid: asset.uid,
    organizationUid: asset.organizationUid,
    assetType: asset.type,
    name: asset.name,
    location: asset.location,
    description: asset.description,
    criticality: asset.criticality,
    writableBy: asset.writableBy,
    listings: asset.listings.map(({ uid, scopeRules }) => ({
      listingUid: uid,
      scopeRules: scopeRules.map((rule) => ({ rule })),
    })),
    tags: asset.tags,
    openPortCount: asset.openPorts,
    vulnerabilityCount: asset.openVulnerabilities,
    firstSeen: asset.firstSeen === null ? null : formatTimestamp(asset.firstSeen),
    lastSeen: asset.lastSeen === null ? null : formatTimestamp(asset.lastSeen),
    createdAt: formatTimestamp(asset.createdAt),
    updatedAt: formatTimestamp(asset.updatedAt),
  };
}
