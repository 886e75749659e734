import { sql } from 'kysely';
import type { ChangeContext } from '../../auth/callers.ts';
import { inList, itemInteger, jsonRowsTable } from '../../db/dialect-sql.ts';
import type { Transaction } from '../../db/database.ts';
import { foldName } from '../../lib/fold-case.ts';
import { resolveTags } from '../vulnerabilities/resolve-tags.ts';
import { insertVulnerabilityTags } from '../vulnerabilities/vulnerability-assets.ts';
import { tagsByKeys } from '../vulnerabilities/vulnerability-tags.ts';
import type { ImportOptions } from './import-types.ts';
import type { FindingWithFacts } from './finding-facts.ts';

/** A vulnerability whose tags may change. */
interface Tagged extends FindingWithFacts {
  /** Ids; kept up to date. */
  tags: number[];
}

interface TagContext {
  organizationId: number;
  by: ChangeContext;
}

/** The tags of an import's new vulnerabilities: those of its options and of the report. */
export interface TagSource {
  plan: Tagged;
  /** Id of the import; `null` for none. */
  maker: number | null;
}

/** @returns the names of the tags that imports give findings, each folded */
async function tagNamesOf(tx: Transaction, sources: readonly TagSource[]): Promise<Map<TagSource, string[]>> {
  const makers = [...new Set(sources.flatMap(({ maker }) => maker ?? []))];
  const imports = await tx
    .selectFrom('imports')
    .select(['id', 'options'])
    .where((eb) => inList(tx, eb.ref('id'), makers))
    .execute();
  const options = new Map(
    imports.map((row) => [row.id, (JSON.parse(row.options) as Partial<ImportOptions>).tags ?? []]),
  );
  return new Map(
    sources.map((source) => {
      const { plan, maker } = source;
      if (maker === null) return [source, []];
      const reported = JSON.parse(plan.contentOf(maker)?.tags ?? '[]') as string[];
      return [source, [...(options.get(maker) ?? []), ...reported]];
    }),
  );
}

/** Adds the tags of the import that creates a vulnerability. */
export async function addTags(
  tx: Transaction,
  context: TagContext,
  sources: readonly TagSource[],
): Promise<void> {
  const { organizationId, by } = context;
  const names = await tagNamesOf(tx, sources);
  const tagNames = [...new Set([...names.values()].flat())];
  if (tagNames.length === 0) return;
  const tags = await resolveTags(tx, by, organizationId, { tagNames });
  const idOf = new Map(tags.map((tag) => [tag.normalized_name, tag.id]));
  const links: [number, number, number][] = [];
  for (const [{ plan }, its] of names) {
    const added = new Set(its.flatMap((name) => idOf.get(foldName(name)) ?? []));
    for (const tag of added) {
      if (plan.tags.includes(tag) || plan.touches.tags.has(tag)) continue;
      links.push([organizationId, plan.id, tag]);
      plan.tags = [...plan.tags, tag];
    }
  }
  await insertVulnerabilityTags(tx, links);
}

/**
 * Where another import makes vulnerabilities than before, replaces the tags of that one, unless a person changed them.
 * @param before by what made them, in the order of `after`
 */
export async function changeTags(
  tx: Transaction,
  context: TagContext,
  before: readonly TagSource[],
  after: readonly TagSource[],
): Promise<void> {
  if (before.length === 0) return;
  const [old, now] = [await tagNamesOf(tx, before), await tagNamesOf(tx, after)];
  const keys = [...new Set([...old.values()].flat().map(foldName))];
  const tags = keys.length === 0 ? [] : await tagsByKeys(tx, { organization: context.organizationId, keys });
  const idOf = new Map(tags.map((tag) => [tag.normalized_name, tag.id]));
  const removed: [number, number][] = [];
  for (const [index, source] of before.entries()) {
    const { plan } = source;
    const kept = new Set(now.get(after[index] as TagSource)?.map(foldName));
    for (const key of new Set(old.get(source)?.map(foldName))) {
      const tag = idOf.get(key);
      if (tag === undefined || kept.has(key) || plan.touches.tags.has(tag) || !plan.tags.includes(tag))
        continue;
      removed.push([plan.id, tag]);
      plan.tags = plan.tags.filter((other) => other !== tag);
    }
  }
  if (removed.length > 0)
    await sql`delete from vulnerability_taggings where (vulnerability_id, tag_id) in (
      select ${itemInteger(0)}, ${itemInteger(1)} from ${jsonRowsTable(tx, removed)})`.execute(tx);
  await addTags(tx, context, after);
}
