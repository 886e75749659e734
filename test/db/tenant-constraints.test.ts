import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Tables } from '../../src/db/schema.ts';
import { useOwnDatabase } from '../harness/database.ts';
import { engine } from '../harness/server.ts';

let firstTenant: Tenant;
let secondTenant: Tenant;
/** An organization group that contains `firstTenant`. */
let organizationGroup: { id: number; tag: number };

type Row = Record<string, string | number | null>;
type Tenant = Awaited<ReturnType<typeof createTenant>>;

const { db } = await useOwnDatabase();
beforeAll(async () => {
  firstTenant = await createTenant('one');
  secondTenant = await createTenant('two');
  const id = await insert('organizations', { uid: 'union', kind: 'group', name: 'union', created_at: 1 });
  await insertRow('organization_group_members', { group_id: id, organization_id: firstTenant.organization });
  const tag = await insert('asset_tags', {
    uid: 'union',
    organization_id: id,
    name: 'union',
    normalized_name: 'union',
  });
  organizationGroup = { id, tag };
});

/** Tables are selected by name here, so only the database checks their columns. */
const insertRow = (table: keyof Tables, row: Row) =>
  db.write((tx) =>
    tx
      .insertInto(table)
      .values(row as never)
      .execute(),
  );
const insert = (table: keyof Tables, row: Row): Promise<number> =>
  db.write(async (tx) => {
    const inserted = await tx
      .insertInto(table)
      .values(row as never)
      .returning('id' as never)
      .executeTakeFirstOrThrow();
    return (inserted as { id: number }).id;
  });

/** Creates one row of each table that can be joined. */
async function createTenant(uid: string) {
  const organization = await insert('organizations', {
    uid,
    kind: 'organization',
    name: uid,
    created_at: 1,
  });
  const tenantColumns = { organization_id: organization };
  const nameColumns = { ...tenantColumns, name: uid, normalized_name: uid };
  const email = `${uid}@tenant.example`;
  const user = await insert('users', {
    ...tenantColumns,
    uid,
    email,
    normalized_email: email,
    created_at: 1,
  });
  const group = await insert('assessment_groups', { ...tenantColumns, name: uid, created_at: 1 });
  const assessment = await insert('assessments', { ...tenantColumns, uid, name: uid, created_at: 1 });
  const assessmentTag = await insert('assessment_tags', nameColumns);
  const vulnerability = await insert('vulnerabilities', vulnerabilityOf(organization, assessment));
  const vulnerabilityTag = await insert('vulnerability_tags', nameColumns);
  const asset = await insert('assets', {
    ...tenantColumns,
    uid,
    type: 'host',
    location: uid,
    name: uid,
    created_at: 1,
    updated_at: 1,
  });
  const assetTag = await insert('asset_tags', { ...nameColumns, uid });
  await insertRow('identity_providers', {
    ...tenantColumns,
    issuer: uid,
    client_id: uid,
    groups_claim: 'groups',
    sso_only: 0,
    trust_email: 0,
    created_at: 1,
  });
  return {
    uid,
    organization,
    user,
    group,
    assessment,
    assessmentTag,
    vulnerability,
    vulnerabilityTag,
    asset,
    assetTag,
  };
}

function vulnerabilityOf(organization: number, assessment: number): Row {
  return {
    organization_id: organization,
    assessment_id: assessment,
    title: 'x',
    description: '',
    severity: 'Low',
    status_id: 1,
    status_set_at: 1,
    created_at: 1,
    updated_at: 1,
    first_seen_at: 1,
  };
}

let count = 0;
/** Builds a row of tenant `o` that refers to a row of tenant `a` and, in a join table, to one of tenant `b`. */
const JOINS: Partial<Record<keyof Tables, (o: Tenant, a: Tenant, b: Tenant) => Row>> = {
  assessments: (o, a) => ({
    organization_id: o.organization,
    uid: `joined${(count += 1)}`,
    group_id: a.group,
    name: 'x',
    created_at: 1,
  }),
  vulnerabilities: (o, a) => vulnerabilityOf(o.organization, a.assessment),
  assessment_group_members: (o, a, b) => ({
    organization_id: o.organization,
    group_id: a.group,
    user_id: b.user,
    user_uid: b.uid,
    role: 'infra_admin',
    created_at: 1,
  }),
  assessment_access: (o, a, b) => ({
    organization_id: o.organization,
    assessment_id: a.assessment,
    user_id: b.user,
  }),
  assessment_taggings: (o, a, b) => ({
    organization_id: o.organization,
    assessment_id: a.assessment,
    tag_id: b.assessmentTag,
  }),
  vulnerability_taggings: (o, a, b) => ({
    organization_id: o.organization,
    vulnerability_id: a.vulnerability,
    tag_id: b.vulnerabilityTag,
  }),
  vulnerability_assets: (o, a, b) => ({
    organization_id: o.organization,
    vulnerability_id: a.vulnerability,
    asset_id: b.asset,
  }),
  timeline_entries: (o, a) => ({
    organization_id: o.organization,
    vulnerability_id: a.vulnerability,
    at: 1,
    kind: 'edited',
  }),
  listing_assets: (o, a, b) => ({
    organization_id: o.organization,
    assessment_id: a.assessment,
    asset_id: b.asset,
  }),
  identity_provider_groups: (o, a) => ({
    organization_id: o.organization,
    group_name: 'x',
    assessment_id: a.assessment,
  }),
  identities: (o, a) => ({
    organization_id: o.organization,
    issuer: 'x',
    subject: 'x',
    user_id: a.user,
    created_at: 1,
  }),
};

const constraintError = { message: expect.stringMatching(/foreign key constraint|check constraint/i) };
const tryInsert = (table: keyof Tables, row: Row) =>
  insertRow(table, row).then(
    () => 'accepted',
    (error: unknown) => error,
  );

describe('Foreign keys prevent joins across organizations', () => {
  it.each(Object.keys(JOINS) as (keyof Tables)[])('in %s', async (table) => {
    const join = JOINS[table]!;
    const mixed = [
      [firstTenant, secondTenant, secondTenant],
      [secondTenant, firstTenant, firstTenant],
      ...(join.length === 2
        ? []
        : [
            [firstTenant, firstTenant, secondTenant],
            [firstTenant, secondTenant, firstTenant],
            [secondTenant, firstTenant, secondTenant],
            [secondTenant, secondTenant, firstTenant],
          ]),
    ] as [Tenant, Tenant, Tenant][];
    for (const outcome of await Promise.all(mixed.map(([o, a, b]) => tryInsert(table, join(o, a, b)))))
      expect(outcome).toMatchObject(constraintError);
    expect(await tryInsert(table, join(firstTenant, firstTenant, firstTenant))).toBe('accepted');
  });

  it('in assessment_group_members with the uid of another user', async () => {
    const other = await insert('users', {
      organization_id: secondTenant.organization,
      uid: 'other',
      email: 'other@tenant.example',
      normalized_email: 'other@tenant.example',
      created_at: 1,
    });
    const row = JOINS.assessment_group_members!(secondTenant, secondTenant, secondTenant);
    expect(await tryInsert('assessment_group_members', { ...row, user_uid: 'other' })).toMatchObject(
      constraintError,
    );
    expect(await tryInsert('assessment_group_members', { ...row, user_id: other })).toMatchObject(
      constraintError,
    );
    expect(await tryInsert('assessment_group_members', row)).toBe('accepted');
  });

  it("in asset_taggings, except for tags of a group that contains the asset's organization", async () => {
    const tagging = (tag_id: number, asset: Tenant, organization_id: number, owner_id: number) =>
      [null, organizationGroup.id, firstTenant.organization, secondTenant.organization].map((group_id) => ({
        tag_id,
        asset_id: asset.asset,
        organization_id,
        owner_id,
        group_id,
      }));
    const organizations = [firstTenant.organization, secondTenant.organization, organizationGroup.id];
    const everyWay = (tag: number, asset: Tenant) =>
      organizations.flatMap((organization) =>
        organizations.flatMap((owner) => tagging(tag, asset, organization, owner)),
      );
    const wrong = [
      ...everyWay(firstTenant.assetTag, secondTenant),
      ...everyWay(secondTenant.assetTag, firstTenant),
      ...everyWay(organizationGroup.tag, secondTenant),
    ];
    for (const outcome of await Promise.all(wrong.map((row) => tryInsert('asset_taggings', row))))
      expect(outcome).toMatchObject(constraintError);
    const right = {
      tag_id: organizationGroup.tag,
      asset_id: firstTenant.asset,
      organization_id: firstTenant.organization,
      owner_id: organizationGroup.id,
    };
    expect(await tryInsert('asset_taggings', { ...right, group_id: null })).toMatchObject(constraintError);
    expect(await tryInsert('asset_taggings', { ...right, group_id: organizationGroup.id })).toBe('accepted');
    expect(
      await tryInsert('asset_taggings', {
        ...right,
        tag_id: firstTenant.assetTag,
        owner_id: firstTenant.organization,
        group_id: null,
      }),
    ).toBe('accepted');
  });

  it('when one of the rows moves', async () => {
    const vulnerability = await insert(
      'vulnerabilities',
      vulnerabilityOf(firstTenant.organization, firstTenant.assessment),
    );
    const move = (table: 'assessments' | 'vulnerabilities' | 'users', id: number) =>
      db
        .write((tx) =>
          tx
            .updateTable(table)
            .set({ organization_id: secondTenant.organization } as never)
            .where('id' as never, '=', id as never)
            .execute(),
        )
        .catch((error: unknown) => error);
    expect(await move('assessments', firstTenant.assessment)).toMatchObject(constraintError);
    expect(await move('vulnerabilities', vulnerability)).toMatchObject(constraintError);
  });
});

it('An organization with assigned staff cannot be deleted: without an assignment, they could access all organizations', async () => {
  const organization = await insert('organizations', {
    uid: 'left',
    kind: 'organization',
    name: 'left',
    created_at: 1,
  });
  const email = 'assigned@tenant.example';
  const staff = { uid: 'assigned', email, normalized_email: email, staff: 1, created_at: 1 };
  const user = await insert('users', staff);
  await insertRow('staff_organizations', { user_id: user, organization_id: organization });
  const remove = (table: 'organizations' | 'users', id: number) =>
    db.write((tx) => tx.deleteFrom(table).where('id', '=', id).execute());
  const assignments = () =>
    db.read.selectFrom('staff_organizations').selectAll().where('user_id', '=', user).execute();

  await expect(remove('organizations', organization)).rejects.toMatchObject(constraintError);
  expect(await assignments()).toEqual([{ user_id: user, organization_id: organization }]);
  await remove('users', user);
  expect(await assignments()).toEqual([]);
  await remove('organizations', organization);
});

/** References to users who may be staff. Staff belong to no organization, so the key cannot include it. */
const KEYS_WITHOUT_ORGANIZATION = [
  'testing_sessions.tester_id',
  'testing_sessions.entered_by',
  'testing_session_edits.user_id',
  'assessments.created_by',
  'staff_organizations.user_id',
  'vulnerabilities.created_by',
  'vulnerabilities.assignee_id',
  'vulnerabilities.published_by',
  'timeline_entries.user_id',
  'attachments.user_id',
  'imports.created_by',
  'comments.user_id',
  'retests.user_id',
  'retests.decided_by',
];

// The tables are the same on both engines, and SQLite lists the keys with one query.
it.runIf(engine() === 'sqlite')(
  'Every foreign key between rows of organizations includes the organization',
  async () => {
    const { rows } = await sql<{ child: string; parent: string; key: number; from: string; to: string }>`
    select child.name as child, key."table" as parent, key.id as key, key."from", key."to"
    from sqlite_master child, pragma_foreign_key_list(child.name) key where child.type = 'table'`.execute(
      db.read as never,
    );
    const { rows: owned } = await sql<{ name: string }>`select child.name from sqlite_master child,
    pragma_table_info(child.name) c where child.type = 'table' and c.name = 'organization_id'`.execute(
      db.read as never,
    );
    const tenantTables = new Set(owned.map(({ name }) => name));
    const references = new Map<string, typeof rows>();
    for (const row of rows.filter(({ parent }) => tenantTables.has(parent))) {
      if (KEYS_WITHOUT_ORGANIZATION.includes(`${row.child}.${row.from}`)) continue;
      const key = `${row.child} ${row.key}`;
      references.set(key, [...(references.get(key) ?? []), row]);
    }
    const perChild = new Map<string, number>();
    for (const [{ child }] of [...references.values()] as [(typeof rows)[number]][])
      perChild.set(child, (perChild.get(child) ?? 0) + 1);
    const loose = [...references.values()].filter(([first, ...otherColumns]) => {
      const joins = tenantTables.has(first!.child) || perChild.get(first!.child)! > 1;
      return joins && ![first!, ...otherColumns].some(({ to }) => to === 'organization_id');
    });
    expect(loose.map(([row]) => `${row!.child} to ${row!.parent}`)).toEqual([]);
    expect(references.size).toBeGreaterThan(15);
  },
);
