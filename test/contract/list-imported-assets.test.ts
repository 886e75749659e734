import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../harness/expect-problem.ts';
import { createFixtures, type TestUser } from '../harness/fixtures.ts';
import { insertImport, uploadReport, waitForImport } from '../harness/imports.ts';
import { useSharedServer } from '../harness/server.ts';
import { host, port, report } from '../importers/reports.ts';

let organization: { id: number; uid: string };
let assessment: { id: number; uid: string };
let admin: TestUser;

const server = await useSharedServer();
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  assessment = await fixtures.assessment(organization.uid);
  admin = await fixtures.user({ organization: organization.uid, admin: true });
});

const LISTING = { list_assets: 'true' };
const SITE = 'https://shop.example/';
const hosts = (...addresses: string[]) =>
  report(addresses.map((address) => host(address, port(443))).join(''));
const nuclei = (...sites: string[]) =>
  sites
    .map((site) =>
      JSON.stringify({
        'template-id': 'rule',
        type: 'http',
        host: site,
        'matched-at': site,
        timestamp: '2025-11-10T10:00:00Z',
        info: { name: 'Title', severity: 'medium' },
      }),
    )
    .join('\n');

/** Imports a report and returns the ended import. */
async function imported(
  content: string,
  fields: Record<string, string> = {},
  { token } = admin,
  into = assessment.uid,
) {
  const { status, body } = await uploadReport(server, token, content, { assessment_id: into, ...fields });
  expect(status).toBe(202);
  const ended = await waitForImport(server, admin.token, body.id);
  expect(ended.state).toBe('succeeded');
  return ended;
}

async function undo(id: number): Promise<void> {
  const { status } = await server.request('POST', `/v1/imports/${id}/undo`, { token: admin.token });
  expect(status).toBe(202);
  await waitForImport(server, admin.token, id, (job) => job.undone !== null);
}

const get = async (path: string) => (await server.request('GET', path, { token: admin.token })).body;
const locationsOf = async (path: string): Promise<string[]> =>
  ((await get(path)) as { location: string }[]).map(({ location }) => location).sort();
const listed = (uid = assessment.uid) => locationsOf(`/api/asset/v2/listings/${uid}/assets`);
const existing = () => locationsOf('/api/asset/v2/assets');
const newAsset = (location: string, writableBy?: 'client' | 'boss' | 'any') =>
  fixtures.asset({
    organization: organization.uid,
    type: location.startsWith('https:') ? 'webapp' : 'host',
    location,
    ...(writableBy === undefined ? {} : { writableBy }),
  });
const changeListing = async (body: object) => {
  const path = `/api/asset/v2/listings/${assessment.uid}/assets`;
  expect((await server.request('PATCH', path, { token: admin.token, body })).status).toBe(204);
};

describe('Operation 65: the listing of the assessment', () => {
  it('stays as it is, and the result counts the assets of the report outside it', async () => {
    const { uid } = await newAsset('192.0.2.1');
    await fixtures.list(assessment.uid, uid);
    const content = hosts('192.0.2.1', '192.0.2.2', '192.0.2.3');
    const dry = await imported(content, { dry_run: 'true' });
    expect(dry.result).toMatchObject({ assets_created: 2, assets_outside_scope: 2 });
    const first = await imported(content);
    expect(first.options.list_assets).toBe(false);
    expect(first.result).toMatchObject({ assets_created: 2, assets_outside_scope: 2 });
    expect(await listed()).toEqual(['192.0.2.1']);
    expect((await imported(content)).result).toMatchObject({ assets_created: 0, assets_outside_scope: 2 });

    const findings = await imported(nuclei(SITE, 'https://other.example/', `${SITE}path`));
    expect(findings.result).toMatchObject({ assets_created: 2, assets_outside_scope: 2 });
    expect(await listed()).toEqual(['192.0.2.1']);
    const rows: any[] = await get(`/v1/vulnerabilities?filter[assessment_id][]=${assessment.uid}`);
    expect(rows.map(({ asset_uids: assets }) => assets.length)).toEqual([1, 1]);
  });

  it('gets every asset of the report with list_assets, except in a dry run', async () => {
    await newAsset('192.0.2.1');
    await newAsset(SITE);
    const content = hosts('192.0.2.1', '192.0.2.2');
    const dry = await imported(content, { ...LISTING, dry_run: 'true' });
    expect(dry.result).toMatchObject({ assets_created: 1, assets_outside_scope: 0 });
    expect(await listed()).toEqual([]);
    const ended = await imported(content, LISTING);
    expect(ended.options.list_assets).toBe(true);
    expect(ended.result).toMatchObject({ assets_created: 1, assets_updated: 1, assets_outside_scope: 0 });
    const findings = nuclei(SITE, 'https://other.example/');
    expect((await imported(findings, { ...LISTING, dry_run: 'true' })).result.assets_outside_scope).toBe(0);
    expect((await imported(findings, LISTING)).result.assets_outside_scope).toBe(0);
    const all = ['192.0.2.1', '192.0.2.2', 'https://other.example/', SITE];
    expect(await listed()).toEqual(all);
    const events = (await fixtures.auditEvents()).filter(
      ({ action, object_id: uid }) => action === 'listing.update' && uid === assessment.uid,
    );
    expect(events.map(({ user_id: by }) => by)).toEqual(events.map(() => admin.id));
    expect(events.flatMap(({ after }) => Object.keys(JSON.parse(after ?? '').assets))).toHaveLength(4);
  });

  it('gets only assets that the starter could add by operation 11', async () => {
    const user = await fixtures.user({ organization: organization.uid, assessments: [assessment.uid] });
    const [own, read] = [
      await fixtures.assessment(organization.uid),
      await fixtures.assessment(organization.uid),
    ];
    await fixtures.access(own.uid, user.id);
    const path = `/v1/assessments/${read.uid}/users`;
    const body = { add: [{ id: user.id, role: 'assessment_read_only' }] };
    expect((await server.request('PATCH', path, { token: admin.token, body })).status).toBe(200);
    for (const [location, listing, writableBy] of [
      ['https://own.example/', own],
      ['https://boss.example/', own, 'boss'],
      ['https://read.example/', read],
      ['https://none.example/', undefined],
    ] as const) {
      const { uid } = await newAsset(location, writableBy);
      if (listing !== undefined) await fixtures.list(listing.uid, uid);
    }
    const content = nuclei(
      'https://own.example/',
      'https://boss.example/',
      'https://read.example/',
      'https://none.example/',
      'https://new.example/',
    );
    await imported(content, LISTING, user);
    expect(await listed()).toEqual(['https://new.example/', 'https://own.example/']);
    // Findings are linked to the assets that the import listed.
    const linked = async (location: string) => {
      const [asset] = await get(`/api/asset/v2/assets?search=${location}`);
      return asset.vulnerabilityCount;
    };
    expect([await linked('own.example'), await linked('new.example'), await linked('none.example')]).toEqual([
      1, 1, 0,
    ]);
  });

  it('leaves out hosts that did not answer', async () => {
    await newAsset('192.0.2.1');
    const down = report(
      '<host><status state="down"/><address addr="192.0.2.1" addrtype="ipv4"/></host>' +
        host('192.0.2.2', port(443)),
    );
    expect((await imported(down)).result.assets_outside_scope).toBe(1);
    await imported(down, LISTING);
    expect(await listed()).toEqual(['192.0.2.2']);
  });

  it('needs a scope that writes assets, and an assessment', async () => {
    const { token } = await fixtures.token(admin.id, { scopes: ['api', 'asset_or'] });
    const fields = { assessment_id: assessment.uid };
    expect((await uploadReport(server, token, nuclei(SITE), fields)).status).toBe(202);
    const refused = await uploadReport(server, token, nuclei(SITE), { ...fields, ...LISTING });
    expectProblem(server, refused, { area: 'v1', status: 403, kind: 'forbidden' });
    const { status, body } = await uploadReport(server, admin.token, hosts('192.0.2.1'), LISTING);
    expect([status, body.failedValidation]).toMatchObject([422, [{ property: 'assessment_id' }]]);
  });

  it('has no assets outside it without an assessment, or in results of earlier versions', async () => {
    const { status, body } = await uploadReport(server, admin.token, hosts('192.0.2.1'));
    expect(status).toBe(202);
    const ended = await waitForImport(server, admin.token, body.id);
    expect(ended.result).toMatchObject({ assets_created: 1, assets_outside_scope: 0 });
    const id = await insertImport(server, {
      organizationId: organization.id,
      assessmentId: assessment.id,
      state: 'succeeded',
      finishedAt: 2,
    });
    await server.context.db.write((tx) =>
      tx.updateTable('imports').set({ result: '{"assets_created":1}' }).where('id', '=', id).execute(),
    );
    const old = await get(`/v1/imports/${id}`);
    expect([old.result.assets_created, old.result.assets_outside_scope, old.options.list_assets]).toEqual([
      1,
      0,
      false,
    ]);
  });
});

describe('Operation 82: the listing of the assessment', () => {
  it('loses what the import listed, and keeps what a person did', async () => {
    const { uid: before } = await newAsset('192.0.2.1');
    await newAsset('192.0.2.2');
    await newAsset('192.0.2.3');
    await fixtures.list(assessment.uid, before);
    const content = hosts('192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5');
    const { id } = await imported(content, LISTING);
    expect(await listed()).toHaveLength(5);
    const uidOf = async (address: string) => (await get(`/api/asset/v2/assets?search=${address}`))[0].uid;
    await changeListing({
      add: [
        // Listed again without a change.
        { assetUid: await uidOf('192.0.2.3') },
        { assetUid: await uidOf('192.0.2.4'), scopeRules: [{ rule: 'by day' }] },
      ],
    });
    await undo(id);
    expect(await listed()).toEqual(['192.0.2.1', '192.0.2.3', '192.0.2.4']);
    expect(await existing()).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']);
    const [last] = (await fixtures.auditEvents())
      .filter(({ action, object_id: uid }) => action === 'listing.update' && uid === assessment.uid)
      .slice(-1);
    expect(Object.values(JSON.parse(last?.after ?? '').assets)).toEqual([null, null]);
  });

  it.each([
    ['first', 0],
    ['second', 1],
  ])(
    'keeps what another import lists too, and loses it with that one: the %s first',
    async (_name, index) => {
      await newAsset('192.0.2.1');
      const ids = [
        (await imported(hosts('192.0.2.1', '192.0.2.2'), LISTING)).id,
        (await imported(hosts('192.0.2.1', '192.0.2.2', '192.0.2.3'), LISTING)).id,
      ];
      await undo(ids[index]);
      const left = index === 0 ? ['192.0.2.1', '192.0.2.2', '192.0.2.3'] : ['192.0.2.1', '192.0.2.2'];
      expect(await listed()).toEqual(left);
      await undo(ids[1 - index]);
      expect(await listed()).toEqual([]);
      expect(await existing()).toEqual(['192.0.2.1']);
    },
  );

  it('loses what other imports saw but do not list, or list elsewhere', async () => {
    const other = await fixtures.assessment(organization.uid);
    const { id } = await imported(nuclei(SITE, 'https://other.example/'), LISTING);
    await imported(nuclei(SITE));
    await imported(nuclei('https://other.example/'), LISTING, admin, other.uid);
    await undo(id);
    expect(await listed()).toEqual([]);
    expect(await listed(other.uid)).toEqual(['https://other.example/']);
    expect(await existing()).toEqual(['https://other.example/', SITE]);
  });

  it('has no effect on what a person removed and listed since', async () => {
    const { id } = await imported(hosts('192.0.2.1'), LISTING);
    const [{ uid }] = await get('/api/asset/v2/assets');
    await changeListing({ remove: [uid] });
    await changeListing({ add: [{ assetUid: uid }] });
    await undo(id);
    expect(await listed()).toEqual(['192.0.2.1']);
  });
});
