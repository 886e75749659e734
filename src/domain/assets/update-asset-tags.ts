import type { Caller } from '../../auth/callers.ts';
import { chunked } from '../../db/chunks.ts';
import type { Transaction } from '../../db/database.ts';
import { inList, forNoKeyUpdate, forUpdate } from '../../db/dialect-sql.ts';
import { prepareQuery, prepareRowCount, preparePipelined, prepareWrite } from '../../db/prepared-queries.ts';
import { recordEvent, recordEvents } from '../audit/record-event.ts';
import { DomainError, invalidInput, notFound } from '../shared/errors.ts';
import { requireName } from '../shared/names.ts';
import { permissionError } from '../shared/permissions.ts';
import { assetIsVisible } from '../shared/asset-visibility.ts';
import {
  type Visibility,
  organizationIsVisible,
  memoizeByVisibility,
  type VisibilityParameters,
  visibilityParameters,
} from '../shared/visibility.ts';
import { type ExpectedVersion, requireVersion } from '../shared/versions.ts';
import { MAX_AUDITED_PAIRS } from './tag-assets.ts';
import {
  findTagOwner,
  type TagOwner,
  type TagChangeContext,
  tagVisibility,
  ORGANIZATION_UID,
  unknownUidError,
} from './asset-tag-access.ts';
import { foldName } from '../../lib/fold-case.ts';
import { memoizeByLock } from '../shared/lock-rows.ts';

interface LockedTag {
  id: number;
  uid: string;
  name: string;
  version: number;
}

/** Locks tags of an owner. */
const lockTags = memoizeByLock((lock) =>
  prepareWrite<{ owner: number; uids: readonly string[] }, LockedTag>((tx, p) =>
    tx
      .selectFrom('asset_tags')
      .select(['id', 'uid', 'name', 'version'])
      .where('organization_id', '=', p.owner)
      .where((eb) => inList(tx, eb.ref('uid'), p.uids))
      .orderBy('id')
      .modifyEnd(lock(tx)),
  ),
);

const selectInvisibleMembers = memoizeByVisibility((visibility) =>
  prepareQuery<VisibilityParameters & { group: number }, { id: number }>((db, p) =>
    db
      .selectFrom('organizations')
      .innerJoin('organization_group_members as member', 'member.organization_id', 'organizations.id')
      .select('organizations.id')
      .where('member.group_id', '=', p.group)
      .where(({ not }) => not(organizationIsVisible(visibility, p)))
      .limit(1),
  ),
);

/** Tags without assets, or with an invisible asset. */
const selectUnchangeableTags = memoizeByVisibility((visibility) =>
  prepareQuery<VisibilityParameters & { tags: readonly number[] }, { id: number }>((db, p) =>
    db
      .selectFrom('asset_tags as tag')
      .select('tag.id')
      .where(({ ref }) => inList(db, ref('tag.id'), p.tags))
      .where(({ exists, not, or, selectFrom }) =>
        or([
          not(
            exists(
              selectFrom('asset_taggings').select('tag_id').whereRef('asset_taggings.tag_id', '=', 'tag.id'),
            ),
          ),
          exists(
            selectFrom('asset_taggings as tagging')
              .innerJoin('assets', 'assets.id', 'tagging.asset_id')
              .select('tagging.tag_id')
              .whereRef('tagging.tag_id', '=', 'tag.id')
              .where((eb) => eb.not(assetIsVisible(visibility, p))),
          ),
        ]),
      )
      .limit(1),
  ),
);

/** Changes no row when another tag of the owner has the name. */
const updateName = prepareRowCount<{ id: number; owner: number; name: string; key: string }>((tx, p) =>
  tx
    .updateTable('asset_tags')
    .set((eb) => ({ name: p.name, normalized_name: p.key, version: eb('version', '+', eb.lit(1)) }))
    .where('id', '=', p.id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('asset_tags as other')
            .select('other.id')
            .where('other.organization_id', '=', p.owner)
            .where('other.normalized_name', '=', p.key)
            .where('other.id', '<>', p.id),
        ),
      ),
    ),
);

const countEntities = prepareQuery<{ tags: readonly number[] }, { tag_id: number; count: number }>((db, p) =>
  db
    .selectFrom('asset_taggings')
    .select((eb) => ['tag_id', eb.fn.countAll<number>().as('count')])
    .where(({ ref }) => inList(db, ref('tag_id'), p.tags))
    .groupBy('tag_id'),
);

const entitiesOf = prepareQuery<{ tags: readonly number[] }, { tag_id: number; uid: string }>((db, p) =>
  db
    .selectFrom('asset_taggings')
    .innerJoin('assets', 'assets.id', 'asset_taggings.asset_id')
    .select(['asset_taggings.tag_id', 'assets.uid'])
    .where(({ ref }) => inList(db, ref('asset_taggings.tag_id'), p.tags))
    .orderBy('assets.id'),
);

const TAGS_PER_DELETE = 50;

const deleteTags = preparePipelined<{ tags: readonly number[] }>((tx, p) =>
  tx.deleteFrom('asset_tags').where(({ ref }) => inList(tx, ref('id'), p.tags)),
);

/**
 * Renames a tag (operation 72).
 * @throws DomainError `invalid` for a bad name, `not-found` for the organization and the tag, `forbidden`,
 *   `version-mismatch` for a version mismatch, `conflict` for a name that another tag has
 */
export async function renameAssetTag(
  tx: Transaction,
  by: TagChangeContext,
  orgUid: string,
  { uid, name: newName, expected }: { uid: string; name: string; expected?: ExpectedVersion | undefined },
): Promise<void> {
  const name = requireName('name', newName);
  const { owner, visibility, requireVisibleMembers } = await findOwnerToChange(tx, by, orgUid);
  const [tag] = ORGANIZATION_UID.test(uid)
    ? await lockTags(forNoKeyUpdate)(tx, { owner: owner.id, uids: [uid] })
    : [];
  if (tag === undefined) throw notFound('tag');
  requireVisibleMembers();
  await requireVisibleAssets(tx, by.actor, visibility, [tag.id]);
  requireVersion(expected, tag.version);
  if (name === tag.name) return;
  if ((await updateName(tx, { id: tag.id, owner: owner.id, name, key: foldName(name) })) === 0)
    throw new DomainError('tag-exists', { name }, [
      { property: 'name', code: 'already-exists', value: name },
    ]);
  await recordEvent(tx, by, {
    action: 'asset-tag.rename',
    object: ['asset-tag', uid],
    organizationId: owner.id,
    before: { name: tag.name },
    after: { name },
  });
}

/**
 * Deletes tags and removes them from every asset, all or nothing (operation 73).
 * @param uids repeated ones count once
 * @throws DomainError `not-found` for the organization, `invalid` for unknown tags, `forbidden`
 */
export async function deleteAssetTags(
  tx: Transaction,
  by: TagChangeContext,
  orgUid: string,
  uids: readonly string[],
): Promise<void> {
  const { owner, visibility, requireVisibleMembers } = await findOwnerToChange(tx, by, orgUid);
  requireVisibleMembers();
  const tags = await lockTags(forUpdate)(tx, { owner: owner.id, uids });
  const knownUids = new Set(tags.map((tag) => tag.uid));
  const errors = uids.flatMap((uid, index) =>
    knownUids.has(uid) ? [] : [unknownUidError(`tags.${index}`, 'tag', uid)],
  );
  if (errors.length > 0) throw invalidInput(errors);
  const ids = tags.map(({ id }) => id);
  await requireVisibleAssets(tx, by.actor, visibility, ids);

  const counts = new Map((await countEntities(tx, { tags: ids })).map((row) => [row.tag_id, row.count]));
  const pairs = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const entities = new Map<number, string[]>(ids.map((id) => [id, []]));
  if (pairs <= MAX_AUDITED_PAIRS)
    for (const row of await entitiesOf(tx, { tags: ids })) entities.get(row.tag_id)?.push(row.uid);
  // Their taggings are deleted by cascade.
  for (const chunk of chunked(ids, TAGS_PER_DELETE)) await deleteTags(tx, { tags: chunk });
  await recordEvents(
    tx,
    tags.map(({ id, uid, name }) => ({
      by,
      change: {
        action: 'asset-tag.delete',
        object: ['asset-tag', uid],
        organizationId: owner.id,
        before: {
          name,
          entities: pairs <= MAX_AUDITED_PAIRS ? entities.get(id) : { count: counts.get(id) ?? 0 },
        },
        after: null,
      },
    })),
  );
}

/**
 * @returns the owner; `requireVisibleMembers` throws `forbidden` for an owner in which the caller may only read, and
 *   for a group with an organization that the caller cannot see
 * @throws DomainError `not-found`
 */
async function findOwnerToChange(
  tx: Transaction,
  by: TagChangeContext,
  orgUid: string,
): Promise<{ owner: TagOwner; visibility: Visibility; requireVisibleMembers: () => void }> {
  const visibility = tagVisibility(by);
  const owner = await findTagOwner(tx, by, orgUid);
  if (owner === undefined) throw notFound('organization');
  const unreached =
    owner.kind === 'group'
      ? await selectInvisibleMembers(visibility)(tx, { ...visibilityParameters(by.actor), group: owner.id })
      : [];
  return {
    owner,
    visibility,
    requireVisibleMembers() {
      if (!owner.isWritable) throw permissionError('write_assets');
      if (unreached.length > 0) throw new DomainError('group-tag');
    },
  };
}

/** @throws DomainError `forbidden` with listing scopes only, for a tag without assets or with assets elsewhere */
async function requireVisibleAssets(
  tx: Transaction,
  caller: Caller,
  visibility: Visibility,
  tags: readonly number[],
): Promise<void> {
  if (visibility.rules.some(({ level }) => level !== 'listing')) return;
  const denied = await selectUnchangeableTags(visibility)(tx, {
    ...visibilityParameters(caller),
    tags,
  });
  if (denied.length > 0) throw new DomainError('tag-outside-listings');
}
