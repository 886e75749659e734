import type { ChangeContext, Caller } from '../../auth/callers.ts';
import { ASSET_WRITE_SCOPES } from '../../auth/scopes.ts';
import { chunked } from '../../db/chunks.ts';
import { type Transaction, StorageError } from '../../db/database.ts';
import { inList, withoutIndex } from '../../db/dialect-sql.ts';
import { prepareQuery, prepareRowCount } from '../../db/prepared-queries.ts';
import type { CRITICALITIES } from './asset-enums.ts';
import { recordEvent } from '../audit/record-event.ts';
import { invalidInput } from '../shared/errors.ts';
import { assetIsVisible } from '../shared/asset-visibility.ts';
import {
  organizationIsVisible,
  memoizeByVisibility,
  visibilityByScopes,
  visibilityParameters,
  type VisibilityParameters,
} from '../shared/visibility.ts';

export type Criticality = (typeof CRITICALITIES)[number];

const selectVisibleOrganization = memoizeByVisibility((visibility) =>
  prepareQuery<VisibilityParameters & { uid: string }, { id: number }>((db, p) =>
    db
      .selectFrom('organizations')
      .select('id')
      .where('uid', '=', p.uid)
      .where('kind', '=', 'organization')
      .where(organizationIsVisible(visibility, p)),
  ),
);

const selectAssetsToUpdate = memoizeByVisibility((visibility) =>
  prepareQuery<
    VisibilityParameters & { organization: number; uids: readonly string[]; criticality: Criticality },
    { id: number; uid: string; criticality: Criticality }
  >((db, p) =>
    db
      .selectFrom('assets')
      .select(['assets.id', 'assets.uid', 'assets.criticality'])
      .where((eb) => inList(db, eb.ref('assets.uid'), p.uids))
      .where((eb) => eb(withoutIndex(eb.ref('assets.organization_id')), '=', p.organization))
      .where('assets.criticality', '<>', p.criticality)
      .where(assetIsVisible(visibility, p)),
  ),
);

const setCriticality = prepareRowCount<{
  ids: readonly number[];
  previous: Criticality;
  criticality: Criticality;
  now: number;
}>((tx, p) =>
  tx
    .updateTable('assets')
    .set((eb) => ({ criticality: p.criticality, updated_at: p.now, version: eb('version', '+', 1) }))
    .where((eb) => inList(tx, eb.ref('id'), p.ids))
    .where('criticality', '=', p.previous),
);

/**
 * Sets the criticality of assets of one organization (operation 10). Ignores assets that are unknown or that the caller
 * cannot change.
 * @returns the number of assets that changed
 * @throws DomainError `invalid` for the organization, StorageError `conflict` when a concurrent transaction changed the
 *   same assets
 */
export async function updateCriticality(
  tx: Transaction,
  by: ChangeContext<Caller>,
  {
    organizationUid,
    criticality,
    assetUids,
  }: { organizationUid: string; criticality: Criticality; assetUids: readonly string[] },
): Promise<number> {
  const { actor: caller, now } = by;
  const visibility = visibilityByScopes(caller, ASSET_WRITE_SCOPES, 'write_assets');
  const parameters = visibilityParameters(caller);
  const readable = visibilityByScopes(caller, ASSET_WRITE_SCOPES, 'read');
  const [organization] = await selectVisibleOrganization(readable)(tx, {
    ...parameters,
    uid: organizationUid,
  });
  if (organization === undefined) {
    throw invalidInput({
      property: 'organizationUid',
      code: 'inaccessible-organization',
      value: organizationUid,
    });
  }
  const assets = [];
  for (const uids of chunked([...new Set(assetUids)]))
    assets.push(
      ...(await selectAssetsToUpdate(visibility)(tx, {
        ...parameters,
        organization: organization.id,
        uids,
        criticality,
      })),
    );
  if (assets.length === 0) return 0;

  const assetsByCriticality = new Map<Criticality, { ids: number[]; uids: string[] }>();
  for (const asset of assets) {
    let group = assetsByCriticality.get(asset.criticality);
    if (group === undefined) assetsByCriticality.set(asset.criticality, (group = { ids: [], uids: [] }));
    group.ids.push(asset.id);
    group.uids.push(asset.uid);
  }
  for (const [previous, { ids }] of assetsByCriticality) {
    let changed = 0;
    for (const chunk of chunked(ids))
      changed += await setCriticality(tx, { ids: chunk, previous, criticality, now });
    // The audit event must name the values that were replaced.
    if (changed !== ids.length)
      throw new StorageError('conflict', 'The assets are being changed by someone else.');
  }
  await recordEvent(tx, by, {
    action: 'asset.criticality',
    object: ['organization', organizationUid],
    organizationId: organization.id,
    before: Object.fromEntries([...assetsByCriticality].map(([previous, { uids }]) => [previous, uids])),
    after: { criticality },
  });
  return assets.length;
}
