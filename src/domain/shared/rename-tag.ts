import { sql, type SqlBool } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import { prepareWrite } from '../../db/prepared-queries.ts';
import { foldName } from '../../lib/fold-case.ts';
import { DomainError } from './errors.ts';

type TagKind = 'assessment-tag' | 'vulnerability-tag';

/** Returns no row when another tag of the organization has the name. */
const prepareRename = (table: 'assessment_tags' | 'vulnerability_tags') =>
  prepareWrite<{ id: number; organization: number; name: string; key: string }, { id: number }>((tx, p) =>
    tx
      .updateTable(table)
      .set((eb) => ({ name: p.name, normalized_name: p.key, version: eb('version', '+', eb.lit(1)) }))
      .where('id', '=', p.id)
      .where(
        sql<SqlBool>`not exists (select 1 from ${sql.table(table)} as other
          where other.organization_id = ${p.organization} and other.normalized_name = ${p.key} and other.id <> ${p.id})`,
      )
      .returning('id'),
  );

const RENAMES = {
  'assessment-tag': prepareRename('assessment_tags'),
  'vulnerability-tag': prepareRename('vulnerability_tags'),
};

/**
 * Renames a locked tag.
 * @throws DomainError `conflict` for a name that another tag of the organization has
 */
export async function renameTag(
  tx: Transaction,
  kind: TagKind,
  { id, organization_id: organization }: { id: number; organization_id: number },
  name: string,
): Promise<void> {
  const renamed = await RENAMES[kind](tx, { id, organization, name, key: foldName(name) });
  if (renamed.length === 0) throw tagExistsError(kind, name);
}

export const tagExistsError = (kind: TagKind, name: string) =>
  new DomainError(`${kind}-exists`, { name }, [{ property: 'name', code: 'already-exists', value: name }]);
