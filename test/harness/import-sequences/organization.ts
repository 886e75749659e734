import { cliChangeContext } from '../../../src/auth/callers.ts';
import type { Database } from '../../../src/db/database.ts';
import { createUser } from '../../../src/domain/users/users.ts';
import { importDirectly, type ImportPlace, undoDirectly } from '../direct-imports.ts';
import { dayOf, type ImportStep, type TouchStep } from './generate.ts';
import { reportText, type SequenceFormat } from './reports.ts';
import { type OrganizationState, readState, type StateOf } from './state.ts';
import { type Person, requestOf, touchFinding, touchScope } from './touches.ts';
import { bulkUpdateVulnerabilities } from '../../../src/domain/vulnerabilities/bulk/update.ts';

let created = 0;

/** @returns a staff account, which all organizations of a database share */
export const createPerson = (db: Database): Promise<Person> =>
  db.write((tx) =>
    createUser(tx, cliChangeContext(dayOf(0)), {
      email: `person${(created += 1)}@example.com`,
      passwordHash: 'none',
    }),
  );

/** An object that a person changed, by an identity that its counterpart in another organization shares. */
export interface Touched {
  key: string;
  touch: TouchStep['touch'];
  at: number;
}

/** An organization with two assessments for imports, and one with decisions. */
export class SequenceOrganization {
  readonly #db: Database;
  readonly #person: Person;
  readonly #organization: { id: number; uid: string };
  readonly #assessments: readonly { id: number; uid: string }[];

  private constructor(
    db: Database,
    person: Person,
    organization: { id: number; uid: string },
    assessments: readonly { id: number; uid: string }[],
  ) {
    this.#db = db;
    this.#person = person;
    this.#organization = organization;
    this.#assessments = assessments;
  }

  /** @param decided formats of findings on which the third assessment has decisions */
  static async create(
    db: Database,
    person: Person,
    decided: readonly SequenceFormat[],
  ): Promise<SequenceOrganization> {
    const uid = `sequence${(created += 1)}`;
    const at = dayOf(0);
    const names = ['a', 'b', ...(decided.length > 0 ? ['c'] : [])];
    // Inserted directly, because it would take much of the time.
    const organization = await db.write(async (tx) => {
      const { id } = await tx
        .insertInto('organizations')
        .values({ uid, kind: 'organization', name: uid, created_at: at })
        .returning('id')
        .executeTakeFirstOrThrow();
      const assessments = await tx
        .insertInto('assessments')
        .values(
          names.map((name) => ({
            uid: `${uid}-${name}`,
            organization_id: id,
            name,
            description: '',
            search_name: name,
            type: 'web',
            state: 'active',
            group_id: null,
            starts_on: null,
            ends_on: null,
            created_at: at,
            updated_at: at,
          })),
        )
        .returning(['id', 'uid'])
        .execute();
      assessments.sort((one, other) => (one.uid < other.uid ? -1 : 1));
      return new SequenceOrganization(db, person, { id, uid }, assessments);
    });
    if (decided.length > 0) await organization.#decide(decided);
    return organization;
  }

  /** Accepts, rejects and excludes some findings in the third assessment. */
  async #decide(formats: readonly SequenceFormat[]): Promise<void> {
    const at = dayOf(0);
    const [, , target] = this.#assessments;
    const items = [0, 1, 2, 3].map((item) => ({ item, level: 0, text: 0, locations: 1 }));
    for (const format of formats)
      await importDirectly(this.#db, this.#place(2), {
        format,
        report: reportText({ format, at, items, isNarrow: false }),
        at,
      });
    const rows = await this.#db.read
      .selectFrom('scanner_findings')
      .select(['vulnerability_id as id', 'identity_hash'])
      .where('assessment_id', '=', target?.id ?? 0)
      .orderBy('source')
      .orderBy('identity_hash')
      .execute();
    for (const [index, statusId] of [6, 7, 9].entries())
      await this.#db.write((tx) =>
        bulkUpdateVulnerabilities(
          tx,
          { actor: requestOf(this.#person), now: at },
          { ids: rows.filter((_, row) => row % 4 === index).map(({ id }) => id), set: { statusId } },
        ),
      );
  }

  #place(assessment: 0 | 1 | 2 | null): ImportPlace {
    return {
      organizationId: this.#organization.id,
      assessment: assessment === null ? null : (this.#assessments[assessment] ?? null),
    };
  }

  /** @returns the id of the import */
  async import({ assessment, content, options, at }: Omit<ImportStep, 'kind' | 'key'>): Promise<number> {
    const upload = { format: content.format, report: reportText(content), options, at };
    const { id, state, error } = await importDirectly(this.#db, this.#place(assessment), upload);
    if (state !== 'succeeded') throw new Error(`The import ${state}: ${error?.message}`);
    return id;
  }

  async undo(id: number, at: number): Promise<void> {
    await undoDirectly(this.#db, { id, at });
  }

  /** @returns the object that the step changed; `undefined` if it changed none */
  async touch({ touch, which, at }: TouchStep): Promise<Touched | undefined> {
    const keys = [...(await (touch.do === 'scope' ? this.#assets() : this.#findings())).keys()].sort();
    const key = keys[which % keys.length];
    if (key === undefined) return undefined;
    const touched = { key, touch, at };
    return (await this.repeat(touched)) ? touched : undefined;
  }

  /** @returns whether the object exists and can be changed */
  async repeat({ key, touch, at }: Touched, isFirst = true): Promise<boolean> {
    const assessment = this.#assessments[0]?.uid ?? '';
    if (touch.do === 'scope') {
      const assetUid = (await this.#assets()).get(key);
      if (assetUid === undefined) return false;
      await touchScope(this.#db, this.#person, { assessment, assetUid, rule: touch.rule, at });
      return true;
    }
    const id = (await this.#findings()).get(key);
    if (id === undefined) return false;
    const isChanged = await touchFinding(this.#db, this.#person, { touch, id, at });
    return isChanged || (!isFirst && touch.do !== 'retest');
  }

  /** @returns ids by assessment, source and identity */
  async #findings(): Promise<Map<string, number>> {
    const rows = await this.#db.read
      .selectFrom('vulnerabilities')
      .innerJoin('scanner_findings', 'scanner_findings.vulnerability_id', 'vulnerabilities.id')
      .select([
        'vulnerabilities.id',
        'vulnerabilities.assessment_id',
        'vulnerabilities.source',
        'identity_hash',
      ])
      .where('vulnerabilities.organization_id', '=', this.#organization.id)
      .execute();
    const indexOf = (id: number) => this.#assessments.findIndex((assessment) => assessment.id === id);
    return new Map(
      rows
        .filter((row) => indexOf(row.assessment_id) < 2)
        .map((row) => [
          `assessment ${indexOf(row.assessment_id)}, ${row.source} ${row.identity_hash}`,
          row.id,
        ]),
    );
  }

  /** @returns uids by type and location */
  async #assets(): Promise<Map<string, string>> {
    const rows = await this.#db.read
      .selectFrom('assets')
      .select(['uid', 'type', 'location'])
      .where('organization_id', '=', this.#organization.id)
      .execute();
    return new Map(rows.map(({ uid, type, location }) => [`${type} ${location}`, uid]));
  }

  readState(nameImport: StateOf['nameImport'], now: number): Promise<OrganizationState> {
    return readState(this.#db, {
      organization: this.#organization,
      assessments: this.#assessments,
      nameImport,
      now,
    });
  }
}
