import type { ChangeContext, Caller } from '../../auth/callers.ts';
import { ASSET_READ_SCOPES } from '../../auth/scopes.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { recordDiscovery, requireDiscoveriesLeft } from '../audit/discovery-limits.ts';
import type { DomainError } from '../shared/errors.ts';
import { assetIsVisible } from '../shared/asset-visibility.ts';
import { visibilityByScopes, visibilityParameters } from '../shared/visibility.ts';
import { type AssetValues, locationConflict } from './insert-assets.ts';

/** The future location of an asset. */
interface RequestedLocation {
  organizationId: number;
  values: AssetValues;
  /** The property of the input, for errors. */
  property: string;
}

/**
 * Looks for assets at these locations that the caller cannot see. The number of times that a caller finds one is
 * limited.
 * @returns the `conflict` for the first such asset, or `undefined`. Return it from the transaction in place of throwing
 *   it, so that its count is committed
 * @throws DomainError `rate-limited` for a caller who has found too many
 */
export async function findHiddenConflict(
  tx: Transaction,
  by: ChangeContext<Caller>,
  requested: readonly RequestedLocation[],
): Promise<DomainError | undefined> {
  const visibility = visibilityByScopes(by.actor, ASSET_READ_SCOPES, 'read');
  // The caller sees all assets of every organization in which they can create one.
  if (visibility.rules.some(({ level, writableBy }) => level !== 'listing' && writableBy === null))
    return undefined;
  const organizations = [...new Set(requested.map(({ organizationId }) => organizationId))];
  for (const organizationId of organizations.sort((one, other) => one - other))
    await requireDiscoveriesLeft(tx, by, { kind: 'location', organizationId });
  const locations = requested.map(({ values }) => values.location);
  const rows = await tx
    .selectFrom('assets')
    .select(['organization_id', 'type', 'location'])
    .where((eb) => inList(tx, eb.ref('organization_id'), organizations))
    .where((eb) => inList(tx, eb.ref('location'), locations))
    .where(({ not, eb }) => not(eb.parens(assetIsVisible(visibility, visibilityParameters(by.actor)))))
    .execute();
  const keyOf = (organization: number, type: string, location: string) =>
    `${organization} ${type} ${location}`;
  const hidden = new Set(rows.map((row) => keyOf(row.organization_id, row.type, row.location)));
  const first = requested.find(({ organizationId, values: { type, location } }) =>
    hidden.has(keyOf(organizationId, type, location)),
  );
  if (first === undefined) return undefined;
  const { organizationId, values, property } = first;
  await recordDiscovery(tx, by, { kind: 'location', organizationId }, values.location);
  return locationConflict(values, [{ property, code: 'taken', value: values.location }]);
}
