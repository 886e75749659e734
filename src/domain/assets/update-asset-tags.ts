import type { Caller } from '../../auth/callers.ts';
import { piecesOf } from '../../db/bulk-insert.ts';
import type { Transaction } from '../../db/engine.ts';
import { holdingRows, isOneOf, nameKey } from '../../db/dialect-sql.ts';
import { prepare, prepareChange, prepareUnread, prepareWrite } from '../../db/prepared-queries.ts';
import { recordChange, recordChanges } from '../audit/record-event.ts';
import { Failure, invalid, missing } from '../shared/errors.ts';
import { cleanName } from '../shared/names.ts';
import {
  assetWithin,
  type CallerReach,
  organizationWithin,
  perReach,
  reachOfCaller,
  type ReachParameters,
  reachParameters,
} from '../shared/visibility.ts';
import { type Expected, requireVersion } from '../shared/versions.ts';
import { MAX_PAIRS_TOLD } from './tag-assets.ts';
import { findOwner, type Owner, type TagAct, UID, unknown } from './asset-tag-access.ts';

interface HeldTag {
  id: number;
  uid: string;
  name: string;
  version: number;
}

/** Finds tags, and keeps others from changing them until this unit of work ends. */
const holdTags = prepareWrite<{ owner: number; uids: readonly string[] }, HeldTag>((tx, p) =>
  tx
    .selectFrom('asset_tags')
    .select(['id', 'uid', 'name', 'version'])
    .where('organization_id', '=', p.owner)
    .where((eb) => isOneOf(tx, eb.ref('uid'), p.uids))
    .orderBy('id')
    .modifyEnd(holdingRows(tx)),
);

const unreachedMembers = perReach((reach) =>
  prepare<ReachParameters & { group: number }, { id: number }>((db, p) =>
    db
      .selectFrom('organizations')
      .innerJoin('organization_group_members as member', 'member.organization_id', 'organizations.id')
      .select('organizations.id')
      .where('member.group_id', '=', p.group)
      .where(({ not }) => not(organizationWithin(reach, p)))
      .limit(1),
  ),
);

/** Tags without entities, or with some that are out of reach. */
const tagsOfOthers = perReach((reach) =>
  prepare<ReachParameters & { tags: readonly number[] }, { id: number }>((db, p) =>
    db
      .selectFrom('asset_tags as tag')
      .select('tag.id')
      .where(({ ref }) => isOneOf(db, ref('tag.id'), p.tags))
      .where(({ exists, not, or, selectFrom }) =>
        or([
          not(
            exists(
              selectFrom('asset_taggings as any').select('any.tag_id').whereRef('any.tag_id', '=', 'tag.id'),
            ),
          ),
          exists(
            selectFrom('asset_taggings as tagging')
              .innerJoin('assets', 'assets.id', 'tagging.asset_id')
              .select('tagging.tag_id')
              .whereRef('tagging.tag_id', '=', 'tag.id')
              .where((eb) => eb.not(assetWithin(reach, p))),
          ),
        ]),
      )
      .limit(1),
  ),
);

/** Renames unless another tag of the owner has the name. */
const setName = prepareChange<{ id: number; owner: number; name: string; key: string }>((tx, p) =>
  tx
    .updateTable('asset_tags')
    .set((eb) => ({ name: p.name, name_key: p.key, version: eb('version', '+', eb.lit(1)) }))
    .where('id', '=', p.id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('asset_tags as other')
            .select('other.id')
            .where('other.organization_id', '=', p.owner)
            .where('other.name_key', '=', p.key)
            .where('other.id', '<>', p.id),
        ),
      ),
    ),
);

const countEntities = prepare<{ tags: readonly number[] }, { tag_id: number; count: number }>((db, p) =>
  db
    .selectFrom('asset_taggings')
    .select((eb) => ['tag_id', eb.fn.countAll<number>().as('count')])
    .where(({ ref }) => isOneOf(db, ref('tag_id'), p.tags))
    .groupBy('tag_id'),
);

const entitiesOf = prepare<{ tags: readonly number[] }, { tag_id: number; uid: string }>((db, p) =>
  db
    .selectFrom('asset_taggings')
    .innerJoin('assets', 'assets.id', 'asset_taggings.asset_id')
    .select(['asset_taggings.tag_id', 'assets.uid'])
    .where(({ ref }) => isOneOf(db, ref('asset_taggings.tag_id'), p.tags))
    .orderBy('assets.id'),
);

const TAGS_AT_ONCE = 50;

const deleteTags = prepareUnread<{ tags: readonly number[] }>((tx, p) =>
  tx.deleteFrom('asset_tags').where(({ ref }) => isOneOf(tx, ref('id'), p.tags)),
);

/**
 * Renames a tag on assets (operation 72).
 * @throws Failure `invalid` for a bad name, `missing` for the organization and the tag, `forbidden` for a tag that is not
 *   the caller's to change, `changed` for another version than is expected, `conflict` for a name that another tag has
 */
export async function renameAssetTag(
  tx: Transaction,
  act: TagAct,
  orgUid: string,
  { uid, name: newName, expected }: { uid: string; name: string; expected?: Expected | undefined },
): Promise<void> {
  const name = cleanName('name', newName);
  const { owner, reach, mayChange } = await ownerToChange(tx, act, orgUid);
  const [tag] = UID.test(uid) ? await holdTags(tx, { owner: owner.id, uids: [uid] }) : [];
  if (tag === undefined) throw missing('tag');
  mayChange();
  await requireOwnEntities(tx, act.actor, reach, [tag.id]);
  requireVersion(expected, tag.version);
  if (name === tag.name) return;
  if ((await setName(tx, { id: tag.id, owner: owner.id, name, key: nameKey(name) })) === 0)
    throw new Failure('conflict', `A tag named "${name}" exists already in this organization.`, [
      { property: 'name', message: 'exists already', value: name },
    ]);
  await recordChange(tx, act, {
    action: 'asset-tag.rename',
    object: ['asset-tag', uid],
    organizationId: owner.id,
    before: { name: tag.name },
    after: { name },
  });
}

/**
 * Deletes tags, and with them takes them off every asset; all or nothing (operation 73).
 * @param uids one that is there twice counts once
 * @throws Failure `missing` for the organization, `invalid` for unknown tags, `forbidden` when one of them is not the
 *   caller's to change
 */
export async function deleteAssetTags(
  tx: Transaction,
  act: TagAct,
  orgUid: string,
  uids: readonly string[],
): Promise<void> {
  const { owner, reach, mayChange } = await ownerToChange(tx, act, orgUid);
  mayChange();
  const tags = await holdTags(tx, { owner: owner.id, uids });
  const found = new Set(tags.map((tag) => tag.uid));
  const faults = uids.flatMap((uid, index) => (found.has(uid) ? [] : [unknown(`tags.${index}`, 'tag', uid)]));
  if (faults.length > 0) throw invalid(faults);
  const ids = tags.map(({ id }) => id);
  await requireOwnEntities(tx, act.actor, reach, ids);

  const counts = new Map((await countEntities(tx, { tags: ids })).map((row) => [row.tag_id, row.count]));
  const pairs = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const entities = new Map<number, string[]>(ids.map((id) => [id, []]));
  if (pairs <= MAX_PAIRS_TOLD)
    for (const row of await entitiesOf(tx, { tags: ids })) entities.get(row.tag_id)?.push(row.uid);
  // With them goes what is tagged.
  for (const some of piecesOf(ids, TAGS_AT_ONCE)) await deleteTags(tx, { tags: some });
  await recordChanges(
    tx,
    tags.map(({ id, uid, name }) => ({
      act,
      change: {
        action: 'asset-tag.delete',
        object: ['asset-tag', uid],
        organizationId: owner.id,
        before: {
          name,
          entities: pairs <= MAX_PAIRS_TOLD ? entities.get(id) : { count: counts.get(id) ?? 0 },
        },
        after: null,
      },
    })),
  );
}

/**
 * @returns the owner of the tags; `mayChange` throws `forbidden` for a group of which the caller does not reach every
 *   organization
 * @throws Failure `missing` when the caller does not reach the owner
 */
async function ownerToChange(
  tx: Transaction,
  { actor: caller, accepted }: TagAct,
  orgUid: string,
): Promise<{ owner: Owner; reach: CallerReach; mayChange: () => void }> {
  const reach = reachOfCaller(caller, accepted);
  const owner = await findOwner(tx, caller, reach, orgUid);
  if (owner === undefined) throw missing('organization');
  const unreached =
    owner.kind === 'group'
      ? await unreachedMembers(reach)(tx, { ...reachParameters(caller), group: owner.id })
      : [];
  return {
    owner,
    reach,
    mayChange() {
      if (unreached.length > 0)
        throw new Failure(
          'forbidden',
          'A tag of a group is changed by those who reach every organization of the group.',
        );
    },
  };
}

/** @throws Failure `forbidden` with listing scopes alone, for a tag that has entities elsewhere or none */
async function requireOwnEntities(
  tx: Transaction,
  caller: Caller,
  reach: CallerReach,
  tags: readonly number[],
): Promise<void> {
  if (reach.rules.some(({ level }) => level !== 'listing')) return;
  const others = await tagsOfOthers(reach)(tx, { ...reachParameters(caller), tags });
  if (others.length > 0)
    throw new Failure(
      'forbidden',
      'With the scopes of listings alone, tags are changed that have assets, all of them in those listings.',
    );
}
