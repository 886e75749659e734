import { createHash, randomBytes } from 'node:crypto';
import { request as askHttp } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { REPORT_FORMATS } from '../../src/importers/formats/index.ts';
import { waitForImport, type FormPart, formOf, insertImport, uploadReport } from '../harness/imports.ts';
import { useOwnServer, type TestResponse } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';
import { host, port, report } from '../importers/reports.ts';
import { eventually } from '../harness/eventually.ts';

const MAX_SIZE = 200_000;
const LISTENING = port(443);

let organization: { id: number; uid: string };
let assessment: { id: number; uid: string };
let admin: TestUser;
let member: TestUser;

const server = await useOwnServer({ maxImportSize: MAX_SIZE });
const fixtures = createFixtures(server);
beforeEach(async () => {
  organization = await fixtures.organization();
  assessment = await fixtures.assessment(organization.uid);
  admin = await fixtures.user({ organization: organization.uid, admin: true });
  member = await fixtures.user({ organization: organization.uid });
  await fixtures.access(assessment.uid, member.id);
});

const hosts = (...addresses: string[]) =>
  report(addresses.map((address) => host(address, LISTENING)).join(''));
const start = (
  content: string | Buffer = hosts('192.0.2.1'),
  fields: Record<string, string> = {},
  { token } = admin,
  headers: Record<string, string> = {},
) => uploadReport(server, token, content, fields, headers);
const send = (parts: readonly FormPart[], { token } = admin, headers: Record<string, string> = {}) =>
  server.request('POST', '/v1/imports', { token, ...formOf(parts, headers) });
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const read = () => server.context.db.read;
const imports = () =>
  read().selectFrom('imports').selectAll().where('organization_id', '=', organization.id).execute();
const waitingContents = () => read().selectFrom('blobs').select('key').where('state', '<>', 1).execute();
const addresses = async () => {
  const importRow = await read()
    .selectFrom('assets')
    .select('location')
    .where('organization_id', '=', organization.id)
    .orderBy('location')
    .execute();
  return importRow.map(({ location }) => location);
};
function expectError({ status, body }: TestResponse, expected: number, kind: string) {
  expect([status, body?.type?.split('/').at(-1)]).toEqual([expected, kind]);
}
/** Expects no queued import and no stored upload. */
async function expectNothing() {
  expect(await imports()).toEqual([]);
  // The content of an earlier import is deleted after it ends.
  await expect.poll(waitingContents).toEqual([]);
}

describe('Operation 65: import a report', () => {
  it('returns 202 with the import and applies it', async () => {
    const content = hosts('192.0.2.1', '192.0.2.2');
    const { status, body, headers } = await start(content, { assessment_id: assessment.uid });
    expect([status, headers.get('location')]).toEqual([202, `${server.origin}/v1/imports/${body.id}`]);
    expect(headers.get('etag')).toMatch(/^"1\./);
    expect(body).toEqual({
      id: body.id,
      state: 'queued',
      format: 'nmap',
      file: { filename: 'report.xml', size: content.length, sha256: sha256(content) },
      organization_uid: organization.uid,
      assessment_id: assessment.uid,
      options: {
        when_gone: 'keep',
        targets: [],
        scanned_at: null,
        date_order: null,
        minimum_severity: null,
        tags: [],
        carry: false,
        list_assets: false,
        mapping: null,
        dry_run: false,
      },
      progress: {
        bytes_read: 0,
        bytes_total: content.length,
        hosts: 0,
        ports: 0,
        findings: 0,
        skipped: 0,
        seconds_left: null,
      },
      skips: [],
      result: null,
      preview: null,
      error: null,
      undone: null,
      created_by: { id: admin.id, name: null, email: admin.email },
      created_at: body.created_at,
      started_at: null,
      finished_at: null,
    });
    const ended = await waitForImport(server, admin.token, body.id);
    expect(ended).toMatchObject({
      state: 'succeeded',
      progress: { bytes_read: content.length, hosts: 2, ports: 2, skipped: 0, seconds_left: null },
      result: { assets_created: 2, assets_updated: 0, ports_opened: 2, findings_created: 0 },
      error: null,
    });
    expect(await addresses()).toEqual(['192.0.2.1', '192.0.2.2']);
    const [row] = await imports();
    expect(row).toMatchObject({ blob_key: null, state: 'succeeded' });
    await eventually(async () => expect(await waitingContents()).toEqual([]));
    const events = (await fixtures.auditEvents()).filter(
      (event) => event.object_type === 'import' && event.object_id === String(body.id),
    );
    expect(events.map(({ action, user_id }) => [action, user_id])).toEqual([
      ['import.start', admin.id],
      ['import.end', admin.id],
    ]);
    expect(JSON.parse(events[0]?.after ?? '')).toMatchObject({
      assessment: assessment.uid,
      format: 'nmap',
      file: { filename: 'report.xml', sha256: sha256(content) },
    });
    expect(JSON.parse(events[1]?.after ?? '')).toMatchObject({ state: 'succeeded', result: ended.result });
  });

  it('accepts and returns every option', async () => {
    const parts: FormPart[] = [
      ['format', 'nmap'],
      ['assessment_id', assessment.uid],
      ['organization_uid', organization.uid],
      ['when_gone', 'fix'],
      ['targets', 'HTTPS://Shop.Acme.example:443/'],
      ['targets', '2001:DB8:0::1'],
      ['targets', 'Host.Acme.example.'],
      ['scanned_at', '2026-01-20T10:00:00+01:00'],
      ['date_order', 'dmy'],
      ['minimum_severity', 'Low'],
      ['tags', ' nightly '],
      ['tags', 'wide'],
      ['carry', 'true'],
      ['list_assets', 'true'],
      ['mapping', ''],
      ['dry_run', '1'],
      ['file', hosts('192.0.2.9'), '../x/nmap\u202e.xml'],
    ];
    const { status, body } = await send(parts);
    expect([status, body.file.filename]).toEqual([202, 'nmap.xml']);
    expect(body.options).toEqual({
      when_gone: 'fix',
      targets: ['https://shop.acme.example/', '2001:db8::1', 'host.acme.example'],
      scanned_at: '2026-01-20T09:00:00.000Z',
      date_order: 'dmy',
      minimum_severity: 'Low',
      tags: ['nightly', 'wide'],
      carry: true,
      list_assets: true,
      mapping: null,
      dry_run: true,
    });
    const ended = await waitForImport(server, admin.token, body.id);
    expect([ended.state, ended.result.assets_created]).toEqual(['succeeded', 1]);
    expect(ended.preview).toEqual({ new: [], again: [], reopened: [], gone: [] });
    expect(await addresses()).toEqual([]);
  });

  it('numbers dry runs apart, so that imports have no gaps', async () => {
    const idOf = async (...parts: Parameters<typeof send>[0]) =>
      (await send([...parts, ['file', hosts('192.0.2.9'), 'nmap.xml']])).body.id as number;
    const first = await idOf();
    const dryRun = await idOf(['dry_run', 'true']);
    expect(dryRun).toBeGreaterThan(1_000_000_000);
    expect(await idOf(['dry_run', 'true'])).toBe(dryRun + 1);
    expect(await idOf()).toBe(first + 1);
  });

  it('detects the format by content, also of gzip', async () => {
    const { body } = await start(gzipSync(hosts('192.0.2.3')));
    expect([body.format, body.assessment_id]).toEqual(['nmap', null]);
    const ended = await waitForImport(server, admin.token, body.id);
    expect([ended.state, ended.result.assets_created]).toEqual(['succeeded', 1]);
  });

  it('keeps what a truncated report contains, and returns where it ends', async () => {
    const complete = hosts('192.0.2.4', '192.0.2.5');
    const { body } = await start(complete.slice(0, complete.indexOf('192.0.2.5')));
    const ended = await waitForImport(server, admin.token, body.id);
    expect(ended).toMatchObject({ state: 'failed', result: { assets_created: 1 } });
    expect(ended.error.message).toMatch(/\S/);
    expect(ended.error.line ?? ended.error.offset).toBeGreaterThan(0);
    expect(await addresses()).toEqual(['192.0.2.4']);
  });

  it.each<[string, readonly FormPart[], string, RegExp]>([
    ['without a file', [['format', 'nmap']], 'file', /required/],
    ['with an empty body', [], 'file', /required/],
    ['with an unknown field', [['formt', 'nmap']], 'formt', /not a field/],
    ['with an unknown format', [['format', 'word']], 'format', /one of auto, /],
    ['with an invalid choice', [['when_gone', 'delete']], 'when_gone', /keep, fix/],
    [
      'with a duplicate field',
      [
        ['format', 'nmap'],
        ['format', 'nmap'],
      ],
      'format',
      /twice/,
    ],
    [
      'with an invalid target',
      [
        ['targets', '192.0.2.1'],
        ['targets', 'a b'],
      ],
      'targets.1',
      /address/,
    ],
    ['with a password in a target', [['targets', 'https://a:b@c.example/']], 'targets.0', /password/],
    ['with an invalid time', [['scanned_at', 'yesterday']], 'scanned_at', /date and time/],
    ['with a time in the future', [['scanned_at', '2099-01-01T00:00:00Z']], 'scanned_at', /between/],
    ['with a time before any scanner', [['scanned_at', '1994-12-31T23:59:59Z']], 'scanned_at', /between/],
    ['with an unknown order of dates', [['date_order', 'ymd']], 'date_order', /dmy/],
    ['with an unknown severity', [['minimum_severity', 'low']], 'minimum_severity', /Critical/],
    ['with a long tag', [['tags', 'x'.repeat(256)]], 'tags.0', /at most 255/],
    ['with an invalid boolean', [['carry', 'yes']], 'carry', /true/],
    ['with an invalid boolean for a dry run', [['dry_run', '2']], 'dry_run', /true/],
    ['with a mapping that is not JSON', [['mapping', '{']], 'mapping', /JSON/],
    ['with a mapping that is a list', [['mapping', '["a"]']], 'mapping', /object/],
    ['with a mapping to a number', [['mapping', '{"title":1}']], 'mapping.title', /column/],
    ['with a NUL character', [['tags', 'a\0b']], 'tags', /NUL/],
    ['with invalid UTF-8', [['tags', Buffer.from([0xff])]], 'tags', /UTF-8/],
    ['with a long text', [['assessment_id', 'x'.repeat(65_537)]], 'assessment_id', /65536/],
    ['with an unknown assessment', [['assessment_id', 'no-such']], 'assessment_id', /assessment/],
    ['with an unknown organization', [['organization_uid', 'nosuch']], 'organization_uid', /organization/],
  ])('returns 422 for a form %s', async (_what, parts, property, message) => {
    const file: FormPart[] = property === 'file' ? [] : [['file', hosts('192.0.2.1'), 'a.xml']];
    const response = await send([...parts, ...file]);
    expectError(response, 422, 'validation-failed');
    const { failedValidation, failedValidations } = response.body;
    expect(failedValidation ?? failedValidations[0].failedValidation).toEqual([
      expect.objectContaining({ property, message: expect.stringMatching(message) }),
    ]);
    await expectNothing();
  });

  it('returns 422 for a part after the file and for two files', async () => {
    for (const [name, fields] of [
      ['format', ['format', 'nmap']],
      ['file', ['file', 'x', 'b.xml']],
    ] as const) {
      const response = await send([['file', hosts('192.0.2.1'), 'a.xml'], fields as FormPart]);
      expectError(response, 422, 'validation-failed');
      expect(response.body.failedValidation[0]).toMatchObject({ property: name });
    }
    await expectNothing();
  });

  it.each([
    ['a user', () => member, 'is required; in a form, the file must be the last part'],
    [
      'staff',
      () => fixtures.user(),
      'is required, or organization_uid for a report of hosts; in a form, the file must be the last part',
    ],
  ])(
    'returns 422 to %s who sends the file before the assessment, before it reads the file',
    async (_who, account, message) => {
      const { token } = await account();
      const { status, body } = await new Promise<TestResponse>((resolve, reject) => {
        const { hostname, port: to } = new URL(server.origin);
        const request = askHttp({
          hostname,
          port: to,
          method: 'POST',
          path: '/v1/imports',
          agent: false,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=x' },
        });
        request.on('error', reject);
        request.on('response', (response) => {
          void text(response).then((received) => {
            request.destroy();
            resolve({ status: response.statusCode, body: JSON.parse(received) } as TestResponse);
          }, reject);
        });
        // The rest of the file and the assessment never follow.
        request.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.xml"\r\n\r\n<?xml');
      });
      expect(status).toBe(422);
      expect(body.failedValidation).toEqual([{ property: 'assessment_id', message }]);
      await expectNothing();
    },
  );

  it('returns 422 that names the order of the parts for findings before their assessment', async () => {
    const format = REPORT_FORMATS.find(({ hasFindings }) => hasFindings)?.name ?? '';
    const response = await send([
      ['format', format],
      ['file', 'x', 'a.xml'],
      ['assessment_id', assessment.uid],
    ]);
    expectError(response, 422, 'validation-failed');
    expect(response.body.failedValidation).toEqual([
      {
        property: 'assessment_id',
        message: expect.stringMatching(/; in a form, the file must be the last part$/),
      },
    ]);
    await expectNothing();
  });

  it.each([
    ['an unknown format', 'PK of nobody'],
    ['noise', randomBytes(5_000)],
    ['other XML', '<?xml version="1.0"?><html/>'],
    ['compressed noise', gzipSync(randomBytes(100))],
    ['a broken gzip', Buffer.from([0x1f, 0x8b, 0, 0, 0, 0])],
    ['an empty file', ''],
    ['an empty gzip', gzipSync('')],
    ['whitespace', ' \n\t\n'],
  ])('returns 422 before it queues %s', async (_what, content) => {
    const response = await start(content);
    expectError(response, 422, 'validation-failed');
    expect(response.body.failedValidation).toEqual([expect.objectContaining({ property: 'file' })]);
    await expectNothing();
  });

  it('returns 422 that names the cause for an empty file', async () => {
    expect((await start('')).body.detail).toMatch(/^file is empty/);
    expect((await start('', { format: 'nmap' })).body.detail).toMatch(/^file is empty/);
  });

  it('accepts an empty file of a format that writes nothing without findings', async () => {
    const clean = REPORT_FORMATS.find(({ allowsEmpty }) => allowsEmpty === true);
    const { status, body } = await start('', { format: clean?.name ?? '', assessment_id: assessment.uid });
    expect([status, body.format]).toEqual([202, clean?.name]);
    const ended = await waitForImport(server, admin.token, body.id);
    expect([ended.state, ended.result.findings_created]).toEqual(['succeeded', 0]);
  });

  it('returns 422 for findings without an assessment', async () => {
    const format = REPORT_FORMATS.find(({ hasFindings }) => hasFindings)?.name ?? '';
    const response = await start('x', { format });
    expectError(response, 422, 'validation-failed');
    expect(response.body.failedValidation[0]).toMatchObject({ property: 'assessment_id' });
    await expectNothing();
  });

  it('returns 413 for a large file, large or many fields, and too many items', async () => {
    const largeReport = report(host('192.0.2.1', LISTENING) + ' '.repeat(MAX_SIZE));
    expectError(await start(largeReport), 413, 'body-too-large');
    const longField = await start('x', { mapping: 'x'.repeat(70_000) });
    expectError(longField, 422, 'validation-failed');
    // 16 names and values of 64 KiB together.
    const targets = Array.from({ length: 16 }, (): FormPart => ['targets', 'x'.repeat(65_536)]);
    expectError(await send(targets), 413, 'body-too-large');
    const fields = Array.from({ length: 2_102 }, (): FormPart => ['targets', '']);
    expectError(await send(fields), 413, 'body-too-large');
    const tags = Array.from({ length: 1_001 }, (_, index): FormPart => ['tags', `tag ${index}`]);
    const response = await send([...tags, ['file', hosts('192.0.2.1'), 'a.xml']]);
    expectError(response, 413, 'batch-too-large');
    expect(response.body).toMatchObject({ maxBatchSize: 1_000, batchSize: 1_001 });
    await expectNothing();
  });

  it('returns 415 and 400 for bodies that are not forms, and removes truncated uploads', async () => {
    const { token } = admin;
    expectError(
      await server.request('POST', '/v1/imports', { token, body: {} }),
      415,
      'unsupported-media-type',
    );
    const { headers, bytes } = formOf([['file', hosts('192.0.2.1'), 'a.xml']]);
    const broken = await server.request('POST', '/v1/imports', {
      token,
      headers,
      bytes: bytes?.subarray(0, -20) as Buffer<ArrayBuffer>,
    });
    expectError(broken, 400, 'invalid-request');
    await expectNothing();
  });
});

describe('Operation 65: access', () => {
  it('allows admins without an assessment, and users with access to the given one', async () => {
    expectError(await start(undefined, {}, member), 422, 'validation-failed');
    const { status } = await start(undefined, { assessment_id: assessment.uid }, member);
    expect(status).toBe(202);
    const outsider = await fixtures.user({ organization: organization.uid });
    expectError(
      await start(undefined, { assessment_id: assessment.uid }, outsider),
      422,
      'validation-failed',
    );
  });

  it('requires api and a scope that writes assets for a report of hosts', async () => {
    const narrowToken = await fixtures.token(admin.id, { scopes: ['api', 'asset_or'] });
    expectError(await start(undefined, {}, { ...admin, token: narrowToken.token }), 403, 'forbidden');
    const wideToken = await fixtures.token(admin.id, { scopes: ['api', 'asset_client_ow'] });
    expect((await start(undefined, {}, { ...admin, token: wideToken.token })).status).toBe(202);
  });

  it('without an assessment requires a scope that is not of a listing', async () => {
    const { token } = await fixtures.token(admin.id, { scopes: ['api', 'asset_client_lw'] });
    expectError(await start(undefined, {}, { ...admin, token }), 403, 'forbidden');
    const fields = { assessment_id: assessment.uid };
    expect((await start(undefined, fields, { ...admin, token })).status).toBe(202);
  });

  it('skips hosts that the scopes of the credential do not write', async () => {
    const staff = await fixtures.user();
    for (const [location, writableBy] of [
      ['192.0.2.1', 'boss'],
      ['192.0.2.2', 'client'],
      ['192.0.2.3', 'any'],
    ] as const) {
      const { uid } = await fixtures.asset({
        organization: organization.uid,
        type: 'host',
        location,
        writableBy,
      });
      await fixtures.list(assessment.uid, uid);
    }
    await fixtures.asset({
      organization: organization.uid,
      type: 'host',
      location: '192.0.2.4',
    });
    const scanned = hosts('192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4');
    const openPorts = async (caller: TestUser, token = caller.token) => {
      const { body } = await start(scanned, { assessment_id: assessment.uid }, { ...caller, token });
      const { result, progress } = await waitForImport(server, admin.token, body.id);
      const { body: listed } = await server.request(
        'GET',
        '/api/asset/v2/assets?portNumber[]=443&fields=location',
        { token: admin.token },
      );
      return [
        listed.map((asset: { location: string }) => asset.location.at(-1)).join(''),
        result.assets_updated,
        progress.skipped,
      ];
    };
    expect(await openPorts(member)).toEqual(['23', 2, 2]);
    const narrowToken = await fixtures.token(admin.id, { scopes: ['api', 'asset_client_lw'] });
    expect(await openPorts(admin, narrowToken.token)).toEqual(['23', 0, 2]);
    expect(await openPorts(admin)).toEqual(['234', 1, 1]);
    const boss = await fixtures.token(staff.id, { scopes: ['api', 'asset_boss_lw'] });
    // The last import saw the fourth, so that it is one of the assessment's.
    expect(await openPorts(staff, boss.token)).toEqual(['1234', 1, 1]);
  });

  it('requires an organization from staff, which must be that of the assessment', async () => {
    const staff = await fixtures.user();
    expectError(await start(undefined, {}, staff), 422, 'validation-failed');
    const inNamedOrganization = await start(undefined, { organization_uid: organization.uid }, staff);
    expect([inNamedOrganization.status, inNamedOrganization.body.organization_uid]).toEqual([
      202,
      organization.uid,
    ]);
    const otherOrganization = await fixtures.organization();
    const fields = { organization_uid: otherOrganization.uid, assessment_id: assessment.uid };
    const response = await start(undefined, fields, staff);
    expect([response.status, response.body.failedValidation[0].property]).toEqual([422, 'organization_uid']);
    expectError(
      await start(undefined, { organization_uid: otherOrganization.uid }),
      422,
      'validation-failed',
    );
  });
});

describe('Operation 65: queue limit', () => {
  it('returns 409 after 20 queued imports of an organization, and stores nothing', async () => {
    for (let waiting = 0; waiting < 20; waiting += 1)
      await insertImport(server, { organizationId: organization.id });
    await insertImport(server, { organizationId: organization.id, state: 'running' });
    const before = await imports();
    const { status, body } = await start();
    expect([status, body.detail]).toEqual([409, expect.stringContaining('20 queued imports')]);
    expect(await imports()).toEqual(before);
    expect(await waitingContents()).toEqual([]);
    // Other organizations are not affected.
    const otherOrganization = await fixtures.organization();
    const foreignUser = await fixtures.user({ organization: otherOrganization.uid, admin: true });
    expect((await start(undefined, {}, foreignUser)).status).toBe(202);
  });
});

describe('Operation 65: Idempotency-Key', () => {
  it('asks for access before it stores a repeated upload', async () => {
    const key = { 'idempotency-key': 'import-2' };
    const content = hosts('192.0.2.9');
    const outsider = await fixtures.user({ organization: organization.uid });
    const stored: string[] = [];
    const { files } = server.context;
    const write = files.write.bind(files);
    files.write = (name, bytes) => {
      stored.push(name);
      return write(name, bytes);
    };
    const target = { assessment_id: assessment.uid };
    const rejected = await start(content, target, outsider, key);
    files.write = write;
    expectError(rejected, 422, 'validation-failed');
    expect(stored).toEqual([]);
    await expectNothing();
  });

  it('returns the first response and imports nothing again', async () => {
    const key = { 'idempotency-key': 'import-1' };
    const content = hosts('192.0.2.7');
    const first = await start(content, {}, admin, key);
    const repeated = await start(content, {}, admin, key);
    expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([202, 'true']);
    expect([repeated.body, repeated.headers.get('location')]).toEqual([
      first.body,
      first.headers.get('location'),
    ]);
    expect(await imports()).toHaveLength(1);
    const otherImport = await start(hosts('192.0.2.8'), {}, admin, key);
    expectError(otherImport, 422, 'validation-failed');
    expect(await imports()).toHaveLength(1);
    await waitForImport(server, admin.token, first.body.id);
    await eventually(async () => expect(await waitingContents()).toEqual([]));
  });
});
