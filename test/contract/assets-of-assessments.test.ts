import { beforeEach, describe, expect, it } from 'vitest';
import { createFixtures, type TestUser } from '../harness/fixtures.ts';
import { uploadReport, waitForImport } from '../harness/imports.ts';
import { useSharedServer } from '../harness/server.ts';
import { host, port, report } from '../importers/reports.ts';

/** Access to an assessment (docs/roles.md): one asset each in its listing, of its finding, and seen by its import. */
const [LISTED, FOUND, SEEN, OTHER] = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'] as const;

let organization: { id: number; uid: string };
let assessment: { id: number; uid: string };
let admin: TestUser;
let member: TestUser;
let infraAdmin: TestUser;
let uids: Record<string, string>;
let vulnerability: number;
let importId: number;

const server = await useSharedServer();
const fixtures = createFixtures(server);

const ask = async (user: TestUser, method: string, path: string, body?: unknown) =>
  server.request(method, path, { token: user.token, ...(body === undefined ? {} : { body }) });
const get = async (user: TestUser, path: string) => (await ask(user, 'GET', path)).body;
const hosts = (number: number, ...addresses: string[]) =>
  report(addresses.map((address) => host(address, port(number))).join(''));

async function imported(user: TestUser, content: string, fields: Record<string, string> = {}) {
  const started = await uploadReport(server, user.token, content, {
    assessment_id: assessment.uid,
    ...fields,
  });
  expect(started.status).toBe(202);
  const ended = await waitForImport(server, admin.token, started.body.id);
  expect(ended.state).toBe('succeeded');
  return ended;
}

beforeEach(async () => {
  organization = await fixtures.organization();
  const inOrganization = { organization: organization.uid };
  const group = await fixtures.group(organization.uid);
  assessment = await fixtures.assessment(organization.uid, undefined, group.id);
  admin = await fixtures.user({ ...inOrganization, admin: true });
  member = await fixtures.user(inOrganization);
  await fixtures.access(assessment.uid, member.id);
  infraAdmin = await fixtures.user(inOrganization);
  await fixtures.member(group.id, infraAdmin.uid, 'infra_admin');
  uids = {};
  for (const location of [LISTED, FOUND, OTHER])
    uids[location] = (await fixtures.asset({ ...inOrganization, type: 'host', location })).uid;
  await fixtures.list(assessment.uid, uids[LISTED] as string);
  const assetUids = [uids[FOUND] as string];
  vulnerability = (await fixtures.vulnerability(assessment.uid, { assetUids })).id;
  importId = (await imported(admin, hosts(80, SEEN))).id;
  uids[SEEN] = (await get(admin, `/api/asset/v2/assets?search=${SEEN}`))[0].uid;
});

const listedTo = async (user: TestUser): Promise<string[]> =>
  ((await get(user, '/api/asset/v2/assets?fields=location')) as { location: string }[])
    .map(({ location }) => location)
    .sort();

describe('Access to an assessment', () => {
  it('reads the assets of its listing, of its findings, and those that its imports saw', async () => {
    expect(await listedTo(member)).toEqual([LISTED, FOUND, SEEN]);
    expect(await listedTo(infraAdmin)).toEqual([LISTED, SEEN]);
    expect(await listedTo(admin)).toEqual([LISTED, FOUND, SEEN, OTHER]);
    const { headers } = await ask(member, 'GET', '/api/asset/v2/assets');
    expect(headers.get('pagination-total-count')).toBe('3');
    const path = `/api/streaming/v1/${organization.uid}/assets/ports`;
    const { ports } = (await get(member, path)).data.attributes;
    expect(ports).toMatchObject([{ number: 80, asset_count: 1 }]);
    const inListing = await get(member, `/api/asset/v2/listings/${assessment.uid}/assets`);
    expect(inListing.map(({ location }: { location: string }) => location)).toEqual([LISTED]);
  });

  it('reads the tags of these assets', async () => {
    const path = `/api/tagging/v1.0/organizations/${organization.uid}/tags`;
    const entities = Object.values(uids).map((uid) => ({ uid }));
    expect((await ask(admin, 'POST', path, { tags: [{ name: 'all', entities }] })).status).toBe(201);
    const entityCount = async (user: TestUser) => (await get(user, path))[0].entityCount;
    expect([await entityCount(admin), await entityCount(member), await entityCount(infraAdmin)]).toEqual([
      4, 3, 2,
    ]);
  });

  it('ends with the finding and with the import', async () => {
    expect((await ask(admin, 'DELETE', `/v1/vulnerabilities/${vulnerability}`)).status).toBe(204);
    expect(await listedTo(member)).toEqual([LISTED, SEEN]);
    // A second import saw the same.
    const second = await imported(admin, hosts(80, SEEN));
    const undo = async (id: number) => {
      expect((await ask(admin, 'POST', `/v1/imports/${id}/undo`)).status).toBe(202);
      await waitForImport(server, admin.token, id, (job) => job.undone !== null);
    };
    await undo(importId);
    expect(await listedTo(member)).toEqual([LISTED, SEEN]);
    // Keeps the asset.
    const change = await ask(admin, 'PATCH', `/api/asset/v2/assets/${uids[SEEN]}`, { description: 'kept' });
    expect(change.status).toBe(200);
    await undo(second.id);
    expect(await listedTo(member)).toEqual([LISTED]);
    expect(await listedTo(admin)).toContain(SEEN);
  });

  it('ends when the finding moves to another assessment', async () => {
    const { uid } = await fixtures.assessment(organization.uid);
    const body = { title: 'Moved', severity: 'Low', assessment_id: uid, asset_uids: [uids[FOUND]] };
    expect((await ask(admin, 'PUT', `/v1/vulnerabilities/${vulnerability}`, body)).status).toBe(200);
    expect(await listedTo(member)).toEqual([LISTED, SEEN]);
  });

  it('writes the assets of its listing only', async () => {
    const all = [LISTED, FOUND, SEEN, OTHER].map((location) => uids[location] as string);
    const criticality = await ask(member, 'POST', '/api/asset/v2/bulk/assets/criticality:update', {
      organizationUid: organization.uid,
      criticality: 'high',
      assetUids: all,
    });
    expect([criticality.status, criticality.body]).toEqual([200, { updatedCount: 1 }]);
    const add = all.map((assetUid) => ({ assetUid }));
    expect(
      (await ask(member, 'PATCH', `/api/asset/v2/listings/${assessment.uid}/assets`, { add })).status,
    ).toBe(204);
    const inListing = await get(member, `/api/asset/v2/listings/${assessment.uid}/assets`);
    expect(inListing).toHaveLength(1);
    const statusOf = async (uid: string | undefined) =>
      (await ask(member, 'PATCH', `/api/asset/v2/assets/${uid}`, { criticality: 'low' })).status;
    expect(await Promise.all(all.map(statusOf))).toEqual([200, 403, 403, 404]);
    const refused = await ask(member, 'PATCH', `/api/asset/v2/assets/${uids[FOUND]}`, { criticality: 'low' });
    expect(refused.body.detail).toMatch(/only read an asset .* in an assessment that lists it/);
    const conflict = await ask(member, 'POST', '/api/asset/v2/assets', {
      organizationUid: organization.uid,
      assetType: 'host',
      location: FOUND,
      listingUid: assessment.uid,
    });
    expect(conflict.status).toBe(409);
  });

  it('writes their ports and links by an import', async () => {
    const content = hosts(443, LISTED, FOUND, SEEN, OTHER);
    expect(await imported(member, content)).toMatchObject({
      result: { ports_opened: 3, assets_updated: 3, assets_outside_scope: 2 },
      skips: [{ reason: 'no permission to change the host', count: 1 }],
    });
    expect(await imported(infraAdmin, hosts(8443, LISTED, FOUND, SEEN, OTHER))).toMatchObject({
      result: { ports_opened: 3 },
    });
    const finding = (address: string) =>
      JSON.stringify({
        'template-id': 'rule',
        type: 'tcp',
        host: `${address}:443`,
        'matched-at': `${address}:443`,
        ip: address,
        info: { name: 'Rule', severity: 'low' },
      });
    await imported(member, [FOUND, SEEN, OTHER].map(finding).join('\n'));
    const rows: any[] = await get(admin, '/v1/vulnerabilities?filter[source][]=nuclei');
    expect(rows.flatMap(({ asset_uids: linked }) => linked).sort()).toEqual([uids[FOUND], uids[SEEN]].sort());
  });

  it('of an infra_admin does not write assets through findings by an import', async () => {
    expect(await imported(infraAdmin, hosts(443, LISTED, FOUND, SEEN))).toMatchObject({
      result: { ports_opened: 2 },
      skips: [{ reason: 'no permission to change the host', count: 1 }],
    });
  });
});

it('Many assessments give access to the same assets as one', async () => {
  const others = await fixtures.together(async (batch) => {
    const made: string[] = [];
    for (let number = 0; number < 201; number += 1) made.push((await batch.assessment(organization.uid)).uid);
    for (const uid of made) await batch.access(uid, member.id);
    return made;
  });
  expect(others).toHaveLength(201);
  expect(await listedTo(member)).toEqual([LISTED, FOUND, SEEN]);
  const { headers } = await ask(member, 'GET', '/api/asset/v2/assets');
  expect(headers.get('pagination-total-count')).toBe('3');
});
