import { type Static, Type } from 'typebox';
import type { Asset } from '../../domain/assets/read-asset.ts';
import { ASSET_TYPES, CRITICALITIES, WRITERS } from '../../domain/assets/asset-enums.ts';
import { MAX_SCOPE_RULE_LENGTH } from '../../domain/assessments/update-listing.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { DateTime, MAX_RESULTS, orNull, storedText } from '../../http/schemas.ts';

export const EXAMPLE_ASSET = '5f0c1e2d3b4a59687786a5b4';

export const AssetScopeRules = Type.Array(
  Type.Object(
    {
      rule: Type.String({
        maxLength: MAX_SCOPE_RULE_LENGTH,
        examples: ['Only between 22:00 and 06:00 UTC'],
      }),
    },
    { title: 'Asset scope rule' },
  ),
  { maxItems: MAX_RESULTS },
);

const AssetListing = Type.Object(
  {
    listingUid: Type.String({ maxLength: 50, examples: ['acme-web-2026'] }),
    scopeRules: AssetScopeRules,
  },
  { title: 'Asset listing' },
);

export const AssetBody = Type.Object(
  {
    uid: Type.String({ maxLength: 24, examples: [EXAMPLE_ASSET] }),
    organizationUid: Type.String({ maxLength: 50, examples: ['acme'] }),
    assetType: Type.String({ enum: [...ASSET_TYPES], maxLength: 16, examples: ['host'] }),
    name: storedText('ams-gateway-01.acme.example'),
    location: Type.String({
      maxLength: 2_048,
      description: 'The address of a host, the URL of a web application, else the name.',
      examples: ['192.0.2.10'],
    }),
    description: storedText('The gateway of the office in Amsterdam.'),
    criticality: Type.String({ enum: [...CRITICALITIES], maxLength: 16, examples: ['high'] }),
    writableBy: Type.String({ enum: [...WRITERS], maxLength: 8, examples: ['any'] }),
    listings: Type.Array(AssetListing, {
      maxItems: MAX_RESULTS,
      description: 'Those that you reach; in a list the first 100.',
    }),
    tags: Type.Array(
      Type.Object(
        { uid: Type.String({ maxLength: 24, examples: ['3c1f0e2d4b5a'] }), name: storedText('dmz') },
        { title: 'Tag of an asset' },
      ),
      { maxItems: MAX_RESULTS, description: 'In a list the first 100, by name.' },
    ),
    openPortCount: Type.Integer({ minimum: 0, examples: [3] }),
    vulnerabilityCount: Type.Integer({
      minimum: 0,
      description: 'How many vulnerabilities it has that are not closed and that you reach.',
      examples: [2],
    }),
    firstSeen: orNull(DateTime),
    lastSeen: orNull(DateTime),
    createdAt: DateTime,
    updatedAt: DateTime,
  },
  { title: 'Asset' },
);

export function assetBody(asset: Asset): Static<typeof AssetBody> {
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
    firstSeen: asset.firstSeen === null ? null : isoTime(asset.firstSeen),
    lastSeen: asset.lastSeen === null ? null : isoTime(asset.lastSeen),
    createdAt: isoTime(asset.createdAt),
    updatedAt: isoTime(asset.updatedAt),
  };
}
