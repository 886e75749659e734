import type { ChangeContext, Caller } from '../../auth/callers.ts';
import type { Scope } from '../../auth/scopes.ts';
import { chunked } from '../../db/chunks.ts';
import type { ReadConnection } from '../../db/database.ts';
import { inList, withoutIndex, parseRows, rowsAsJson } from '../../db/dialect-sql.ts';
import { prepareQuery } from '../../db/prepared-queries.ts';
import { type FieldError, invalidInput } from '../shared/errors.ts';
import { assetOnlyRead, permissionError } from '../shared/permissions.ts';
import { assetIsVisible } from '../shared/asset-visibility.ts';
import {
  type Visibility,
  visibilityByScopes,
  organizationIsVisible,
  memoizeByVisibility,
  visibilityParameters,
  type VisibilityParameters,
} from '../shared/visibility.ts';

/** The uids of organizations, groups of organizations, and tags. */
export const ORGANIZATION_UID = /^[0-9a-z]{1,50}$/;
/** Errors of one response. */
const MAX_FIELD_ERRORS = 1_000;

/** `accepted`: the scopes that the operation accepts. */
export interface TagChangeContext extends ChangeContext<Caller> {
  accepted: readonly Scope[];
}

export interface TaggableAsset {
  id: number;
  uid: string;
  organization_id: number;
}

/** The organization, or group of organizations, that owns tags. */
export interface TagOwner {
  id: number;
  kind: 'organization' | 'group';
  /** Whether the caller may write assets somewhere in it; else, a role lets them read there. */
  isWritable: boolean;
}

/** What the caller may change with the accepted scopes. */
export function tagVisibility({ actor, accepted }: Omit<TagChangeContext, 'now'>): Visibility {
  return visibilityByScopes(actor, accepted, 'write_assets');
}

/** What the caller can see with the accepted scopes. */
function readableBy({ actor, accepted }: Omit<TagChangeContext, 'now'>): Visibility {
  return visibilityByScopes(actor, accepted, 'read');
}

const selectOwner = memoizeByVisibility((visibility) =>
  prepareQuery<VisibilityParameters & { uid: string }, Pick<TagOwner, 'id' | 'kind'>>((db, p) =>
    db
      .selectFrom('organizations')
      .select(['id', 'kind'])
      .where('uid', '=', p.uid)
      .where(organizationIsVisible(visibility, p)),
  ),
);

const TAGGABLE_ASSET_COLUMNS = ['assets.id', 'assets.uid', 'assets.organization_id'] as const;

const visibleAssets = (
  db: ReadConnection,
  visibility: Visibility,
  p: VisibilityParameters & { owner: number },
) =>
  db
    .selectFrom('assets')
    .where((eb) =>
      eb.or([
        eb(withoutIndex(eb.ref('assets.organization_id')), '=', p.owner),
        eb.exists(
          eb
            .selectFrom('organization_group_members as member')
            .select('member.organization_id')
            .whereRef('member.organization_id', '=', 'assets.organization_id')
            .where('member.group_id', '=', p.owner),
        ),
      ]),
    )
    .where(assetIsVisible(visibility, p));

const selectAssets = memoizeByVisibility((visibility) =>
  prepareQuery<VisibilityParameters & { owner: number; uids: readonly string[] }, TaggableAsset>((db, p) =>
    visibleAssets(db, visibility, p)
      .select(rowsAsJson(db, TAGGABLE_ASSET_COLUMNS))
      .where((eb) => inList(db, eb.ref('assets.uid'), p.uids)),
  ),
);

const countQuery = memoizeByVisibility((visibility) =>
  prepareQuery<VisibilityParameters & { owner: number; ids: readonly number[] }, { count: number }>((db, p) =>
    visibleAssets(db, visibility, p)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where((eb) => inList(db, eb.ref('assets.id'), p.ids)),
  ),
);

/** @returns the owner with this uid, if the caller can see it */
export async function findTagOwner(
  db: ReadConnection,
  by: Omit<TagChangeContext, 'now'>,
  uid: string,
): Promise<TagOwner | undefined> {
  // No row has a uid of another form, and PostgreSQL rejects some strings.
  if (!ORGANIZATION_UID.test(uid)) return undefined;
  const p = { ...visibilityParameters(by.actor), uid };
  const [writable] = await selectOwner(tagVisibility(by))(db, p);
  if (writable !== undefined) return { ...writable, isWritable: true };
  const [readable] = await selectOwner(readableBy(by))(db, p);
  return readable && { ...readable, isWritable: false };
}

/** @returns the visible assets of the owner, by uid */
export async function findTaggableAssets(
  db: ReadConnection,
  caller: Caller,
  visibility: Visibility,
  owner: TagOwner,
  uids: readonly string[],
): Promise<Map<string, TaggableAsset>> {
  if (uids.length === 0) return new Map();
  // Sorted as their index: reading 20,000 takes half the time.
  const unique = [...new Set(uids)].sort();
  const assets = new Map<string, TaggableAsset>();
  for (const chunk of chunked(unique)) {
    const rows = await selectAssets(visibility)(db, {
      ...visibilityParameters(caller),
      owner: owner.id,
      uids: chunk,
    });
    for (const row of parseRows(['id', 'uid', 'organization_id'], rows)) assets.set(row.uid, row);
  }
  return assets;
}

/**
 * @param ids ascending
 * @returns whether the caller can see all of these assets of the owner
 */
export async function areTaggable(
  db: ReadConnection,
  caller: Caller,
  visibility: Visibility,
  owner: TagOwner,
  ids: readonly number[],
): Promise<boolean> {
  let count = 0;
  for (const chunk of chunked(ids)) {
    const [counted] = await countQuery(visibility)(db, {
      ...visibilityParameters(caller),
      owner: owner.id,
      ids: chunk,
    });
    count += counted?.count ?? 0;
  }
  return count === ids.length;
}

/**
 * @param assets the result of `findTaggableAssets` for these lists
 * @param lists lists of uids, each with a function from an index to its property
 * @throws DomainError `invalid` for every uid that the caller cannot see, `forbidden` if they can only read one of the
 *   others
 */
export async function requireTaggableAssets(
  db: ReadConnection,
  by: TagChangeContext,
  owner: TagOwner,
  assets: ReadonlyMap<string, TaggableAsset>,
  lists: readonly { uids: readonly string[]; property(index: number): string }[],
): Promise<void> {
  const missing = lists.flatMap(({ uids, property }) =>
    uids.flatMap((uid, index) => (assets.has(uid) ? [] : [{ uid, property: property(index) }])),
  );
  if (missing.length === 0 && owner.isWritable) return;
  const readable = await findTaggableAssets(
    db,
    by.actor,
    readableBy(by),
    owner,
    missing.map(({ uid }) => uid),
  );
  const errors = missing.flatMap(({ uid, property }) =>
    readable.has(uid) ? [] : [unknownUidError(property, 'asset', uid)],
  );
  if (errors.length > 0) throw invalidInput(errors.slice(0, MAX_FIELD_ERRORS));
  throw missing.length === 0 ? permissionError('write_assets') : assetOnlyRead();
}

export function unknownUidError(property: string, kind: string, value: string): FieldError {
  return {
    property,
    code: kind === 'asset' ? 'inaccessible-asset' : 'inaccessible-tag',
    value,
  };
}
