import { sql } from 'kysely';
import type { Transaction } from '../../db/engine.ts';
import { inList } from '../../db/dialect-sql.ts';

/** @returns the ids of the assets of vulnerabilities, by vulnerability */
export function linkedAssets(tx: Transaction, ids: readonly number[]): Promise<Map<number, number[]>> {
  return linked(tx, 'vulnerability_assets', 'asset_id', ids);
}

/** @returns the ids of the tags of vulnerabilities, by vulnerability */
export function linkedTags(tx: Transaction, ids: readonly number[]): Promise<Map<number, number[]>> {
  return linked(tx, 'vulnerability_taggings', 'tag_id', ids);
}

async function linked(
  tx: Transaction,
  table: 'vulnerability_assets' | 'vulnerability_taggings',
  column: 'asset_id' | 'tag_id',
  ids: readonly number[],
): Promise<Map<number, number[]>> {
  const { rows } = await sql<{ id: number; link: number }>`
    select vulnerability_id as id, ${sql.ref(column)} as link from ${sql.table(table)}
    where ${inList(tx, sql.ref<number>('vulnerability_id'), ids)} order by vulnerability_id, link`.execute(
    tx,
  );
  const links = new Map<number, number[]>();
  for (const { id, link } of rows) {
    const some = links.get(id);
    if (some === undefined) links.set(id, [link]);
    else some.push(link);
  }
  return links;
}
