import type { Attribution, Caller } from '../../auth/callers.ts';
import { ASSET_READ_SCOPES } from '../../auth/scopes.ts';
import { inList } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/engine.ts';
import { recordDiscovery, requireDiscoveriesLeft } from '../shared/discovery-limits.ts';
import type { DomainError } from '../shared/errors.ts';
import { assetIsVisible, visibilityByScopes, visibilityParameters } from '../shared/visibility.ts';
import { type AssetValues, locationConflict } from './insert-assets.ts';

/** A location that an asset is to get. */
interface WantedLocation {
  organization: { id: number; uid: string };
  values: AssetValues;
  /** The property of the input, for errors. */
  property: string;
}

/** Whether the caller sees every asset of the organizations in which they can create one. */
export function seesEveryAsset(caller: Caller): boolean {
  return visibilityByScopes(caller, ASSET_READ_SCOPES).rules.some(
    ({ level, writableBy }) => level !== 'listing' && writableBy === null,
  );
}

/**
 * Limits how many assets that they cannot see a caller finds by the conflict of a location.
 * @returns the `conflict` for the first one, whose count the caller has to commit; `undefined` if there is none
 * @throws DomainError `rate-limited` after too many
 */
export async function refuseHidden(
  tx: Transaction,
  by: Attribution<Caller>,
  wanted: readonly WantedLocation[],
): Promise<DomainError | undefined> {
  const { actor: caller } = by;
  const organizations = new Map(wanted.map(({ organization }) => [organization.id, organization]));
  for (const organization of organizations.values())
    await requireDiscoveriesLeft(tx, by, { discovered: 'location', organization });
  const rows = await tx
    .selectFrom('assets')
    .select(['organization_id', 'type', 'location'])
    .where((eb) => inList(tx, eb.ref('organization_id'), [...organizations.keys()]))
    .where((eb) =>
      inList(
        tx,
        eb.ref('location'),
        wanted.map(({ values }) => values.location),
      ),
    )
    .where(({ not, eb }) =>
      not(
        eb.parens(
          assetIsVisible(visibilityByScopes(caller, ASSET_READ_SCOPES), visibilityParameters(caller)),
        ),
      ),
    )
    .execute();
  const keyOf = (organization: number, type: string, location: string) =>
    `${organization} ${type} ${location}`;
  const hidden = new Set(rows.map((row) => keyOf(row.organization_id, row.type, row.location)));
  const first = wanted.find(({ organization, values: { type, location } }) =>
    hidden.has(keyOf(organization.id, type, location)),
  );
  if (first === undefined) return undefined;
  const { organization, values, property } = first;
  await recordDiscovery(tx, by, { discovered: 'location', organization }, values.location);
  return locationConflict(values, [{ property, code: 'taken', value: values.location }]);
}
