import { randomBytes } from 'node:crypto';
import type { Act } from '../../auth/callers.ts';
import type { Transaction } from '../../db/engine.ts';
import { recordChange } from '../shared/audit.ts';
import { Failure, invalid } from '../shared/failure.ts';
import { cleanName } from '../shared/names.ts';
import { organizationByUid } from '../organizations/organizations.ts';

export const ASSET_TYPES = ['host', 'webapp', 'network', 'cloudaccount', 'mobileapp'] as const;
export const CRITICALITIES = ['high', 'medium', 'low', 'undefined'] as const;
export const WRITERS = ['client', 'boss', 'any'] as const;

export interface NewAsset {
  organization: string;
  type: (typeof ASSET_TYPES)[number];
  name: string;
  /** The network address of a host. */
  address?: string | undefined;
  criticality?: (typeof CRITICALITIES)[number] | undefined;
  /** Which users may modify it; `any` unless told. */
  writableBy?: (typeof WRITERS)[number] | undefined;
}

/**
 * @param now milliseconds since 1970
 * @returns uids for new assets: 24 lowercase hexadecimal characters, which are the time in seconds and then random, so
 *   that assets made together lie together in the index and many of them are quickly written
 */
export function newAssetUids(count: number, now: number): string[] {
  const time = Math.floor(now / 1_000)
    .toString(16)
    .padStart(8, '0')
    .slice(-8);
  const digits = randomBytes(8 * count).toString('hex');
  return Array.from({ length: count }, (_, index) => time + digits.slice(16 * index, 16 * (index + 1)));
}

/**
 * Creates an asset.
 * @param uid of its own unless given
 * @throws Failure `invalid` for an unknown organization or a bad name, `conflict` for an address that a host has
 */
export async function createAsset(
  tx: Transaction,
  act: Act,
  input: NewAsset,
  uid = newAssetUids(1, act.now)[0] ?? '',
): Promise<{ id: number; uid: string }> {
  const name = cleanName('name', input.name);
  const organization = await organizationByUid(tx, input.organization);
  if (organization === undefined) {
    throw invalid({
      property: 'organization',
      message: 'is not the uid of an organization',
      value: input.organization,
    });
  }
  const values = {
    type: input.type,
    name,
    address: input.address ?? null,
    criticality: input.criticality ?? 'undefined',
    writable_by: input.writableBy ?? 'any',
  };
  const row = await tx
    .insertInto('assets')
    .values({ uid, organization_id: organization.id, ...values, created_at: act.now, updated_at: act.now })
    .onConflict((conflict) => conflict.columns(['organization_id', 'address']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined)
    throw new Failure('conflict', `The organization has a host at ${input.address} already.`);
  await recordChange(tx, act, {
    action: 'asset.create',
    object: ['asset', uid],
    organizationId: organization.id,
    before: null,
    after: values,
  });
  return { id: row.id, uid };
}
