import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { endpointsOf, RESOURCES } from '../../src/cli/resources.ts';
import { pluralize } from '../../src/cli/print.ts';
import { formatCell } from '../../src/cli/print-rows.ts';
import { operationKeys } from '../../src/cli/openapi-operations.ts';
import { runCli } from '../../src/cli/program.ts';
import { createFormClient } from '../harness/form-client.ts';
import { useSharedServer } from '../harness/server.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { startCommandLine } from './command-line.ts';

const assay = await startCommandLine();
const server = await useSharedServer();
const fixtures = createFixtures(server);
await assay.json('organization', 'create', 'acme', '--name', 'Acme');
await fixtures.organization('acme');
await fixtures.assessment('acme', 'acme-web');
const admin = await fixtures.user({ organization: 'acme', admin: true });
afterAll(async () => {
  await assay.close();
  await server.close();
});

const serverEnvironment = () => ({ ASSAY_SERVER: server.origin, ASSAY_TOKEN: admin.token });
const onServer = async (...args: string[]) => {
  const { code, stdout, stderr } = await assay.run(args, { env: serverEnvironment() });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};

describe('Commands generated from the operations', () => {
  it('cover every operation', () => {
    const calls = Object.values(RESOURCES).flatMap(endpointsOf);
    // Two commands call one operation.
    const twice = calls.filter((call, index) => calls.indexOf(call) !== index);
    expect(twice).toEqual(['PUT /v1/users/{}']);
    expect(operationKeys().filter((key) => !calls.includes(key))).toEqual([]);
    expect(calls.filter((key) => !operationKeys().includes(key))).toEqual([]);
  });
});

describe('The help of a command', () => {
  it('names options as they are typed, and which are required', async () => {
    const help = async (...command: string[]) =>
      (await assay.run([...command, '--help'])).stdout.replace(/\s+/g, ' ');
    expect(await help('user', 'create')).toContain(
      'Together with `--last-name`, an alternative to `--name`.',
    );
    expect(await help('vulnerability', 'update')).toContain('Together with `--tag-list`, replaces the tags');
    expect(await help('session', 'update')).toContain('`--ended-at` stops a running session');
    expect(await help('token', 'create')).toContain('Set the name of the token; required with --server.');
  });
});

describe('With the data folder, a command', () => {
  it('creates, updates, lists and deletes as the operator, without a token', async () => {
    const organization = (await assay.json('organization', 'list'))[0].id as number;
    const organizationFlag = ['--organization-profile-id', String(organization)];
    const created = await assay.json('tag', 'create', '--name', 'to check', ...organizationFlag);
    expect(created).toMatchObject({ name: 'to check', organization_profile_id: organization });
    const id = String(created.id);
    expect(await assay.json('tag', 'update', id, '--name', 'checked')).toMatchObject({ name: 'checked' });
    expect(await assay.json('tag', 'list')).toEqual([{ ...created, name: 'checked', count: 0 }]);
    expect((await assay.run(['tag', 'delete', id])).stdout).toBe('Deleted.\n');
    expect(await assay.json('tag', 'list')).toEqual([]);
    expect((await assay.run(['tag', 'list'])).stdout).toBe('No results.\n');
  });

  it('prints errors in one line, with the names of its options', async () => {
    for (const [args, words] of [
      [['tag', 'create', '--name', ' ', '--organization-profile-id', '1'], /^assay: --name /],
      [['tag', 'update', '999999', '--name', 'x'], /^assay: .*not exist/],
      [['group', 'member', 'list', '999999'], /^assay: .*not exist/],
      [['asset', 'port', 'list', 'acme', 'none'], /^assay: \S/],
      [
        ['vulnerability', 'bulk-update', '--ids', '2', '--dry-run'],
        /--set is required; for example '\{"status_id":2,"add_tags":\["triaged"\]\}'/,
      ],
    ] as const) {
      const { code, stdout, stderr } = await assay.run(args);
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
      expect(stderr).toMatch(words);
      expect(stderr).toMatch(/^assay: .*\n$/);
    }
  });

  it('rejects invalid arguments before a request', async () => {
    for (const [args, words] of [
      [['tag', 'list', '--serach', 'x'], '(Did you mean --search?)'],
      [['vulnerability', 'attachment', 'creat', '1', 'x.txt'], '(Did you mean create?)'],
      [['token', 'delete', '1'], "unknown command 'delete' (Did you mean revoke?)"],
      [['user', 'delete', '1'], "unknown command 'delete' (Did you mean ban?)"],
      [['asset', 'show', '1'], "unknown command 'show' (Did you mean get?)"],
      [
        ['user', 'invite', '--email', 'x@y.example'],
        'To invite a new user, use "assay user create --email …"',
      ],
      [['vulnerability', 'attachment', 'create', '1'], "missing required argument 'file'"],
      [['tag', 'create'], "required option '--name <text>' not specified"],
      [['tag', 'create', '--name', 'x', '--organization-profile-id', 'y'], 'The value must be an integer.'],
      [['tag', 'list', '--json', '--csv'], 'cannot be used with'],
      [['tag', 'list', '--limit', '0'], 'The value must be an integer of at least 1.'],
      [['tag', 'list', '--token', 'x'], '--token requires a server.'],
      [['tag', 'create', '--json-body', '/nowhere'], 'Cannot read /nowhere (ENOENT)'],
    ] as const) {
      const { code, stdout, stderr } = await assay.run(args);
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
      expect(stderr).toContain(words);
    }
  });
});

describe('pluralize', () => {
  it('uses the singular for one', () => {
    expect(
      ['findings gone', 'statuses set back', 'assets created', 'accesses', 'older', 'hours', 'days'].map(
        (noun) => [0, 1, 2].map((count) => pluralize(count, noun)),
      ),
    ).toEqual([
      ['0 findings gone', '1 finding gone', '2 findings gone'],
      ['0 statuses set back', '1 status set back', '2 statuses set back'],
      ['0 assets created', '1 asset created', '2 assets created'],
      ['0 accesses', '1 access', '2 accesses'],
      ['0 older', '1 older', '2 older'],
      ['0 hours', '1 hour', '2 hours'],
      ['0 days', '1 day', '2 days'],
    ]);
    expect(formatCell({ findings_gone: 1, assets_created: 1, ports_opened: 0 })).toBe(
      '1 finding gone, 1 asset created',
    );
    expect(formatCell({ days_7: 10, days_30: 1, older: 4 })).toBe(
      '10 within 7 days, 1 within 30 days, 4 older',
    );
  });
});

describe('With a server, a command', () => {
  it('acts as the owner of the token, with the same options', async () => {
    const created = JSON.parse(await onServer('tag', 'create', '--name', 'remote', '--json'));
    expect(created).toMatchObject({ name: 'remote' });
    const updated = await onServer('tag', 'update', String(created.id), '--name', 'far away');
    expect(updated).toMatch(/^name +far away$/m);
    const flags = ['--server', server.origin, '--token', admin.token];
    expect((await assay.run(['tag', 'list', ...flags])).stdout).toMatch(/^ID +NAME .*\n\d+ +far away /);
    expect(await assay.json('tag', 'list', ...flags)).toEqual([{ ...created, name: 'far away', count: 0 }]);
    expect(JSON.parse(await onServer('tag', 'delete', String(created.id), '--json'))).toEqual({
      id: String(created.id),
      done: true,
    });
  });

  it('prints a summary of the result, and all of it as JSON', async () => {
    const args = ['vulnerability', 'create', '--assessment-id', 'acme-web', '--title', 'Short', '--severity'];
    const summary = await onServer(...args, 'High');
    expect(summary.split('\n').map((line) => line.split(' ')[0])).toEqual([
      'id',
      'title',
      'severity',
      'status',
      'link',
      '',
    ]);
    expect(summary).toMatch(/^link +http\S+\/vulnerabilities\/\d+$/m);
    expect(JSON.parse(await onServer(...args, 'Low', '--json'))).toMatchObject({ cvss_final: 0.1, tags: [] });
    const [id = ''] = /\d+/.exec(summary) ?? [];
    expect(await onServer('vulnerability', 'get', id)).toMatch(/^cvss_final +7$/m);
  });

  it('prints the result and the next command', async () => {
    const vulnerability = await fixtures.vulnerability('acme-web', { title: 'Told in words' });
    const id = String(vulnerability.id);
    const comment = await onServer('vulnerability', 'comment', 'create', id, '--text', 'Seen.');
    // The deprecated duplicates of `text` and `user` are not printed.
    expect(comment.match(/^\S+/gm)).toEqual([
      'id',
      'text',
      'internal',
      'created_at',
      'updated_at',
      'user',
      'by_staff',
    ]);
    await onServer('vulnerability', 'retest', 'create', id, '--message', 'Again, please.');
    const timeline = await onServer('vulnerability', 'timeline', id);
    expect(timeline).toMatch(/ retest +\S+@\S+ +- +requested /);
    expect(timeline).toMatch(/ status +\S+ +status: Pending Review +status: Pending Verification /);
    const set = '{"severity":"Low"}';
    const changed = await onServer('vulnerability', 'bulk-update', '--ids', id, '--set', set);
    const [, undo = ''] = /^To undo within one hour: assay (.* --undo \S+)$/m.exec(changed) ?? [];
    const undone = await onServer(...undo.split(' '));
    expect(undone).toMatch(/^updated_count +1$/m);
    expect(undone).not.toContain('--undo');
    expect(await onServer('vulnerability', 'summary')).toMatch(/^by_phase +.*\d open/m);
    expect(await onServer('tag', 'asset', 'create', 'acme', '--tags', '{"name":"dmz"}')).toMatch(
      /^UID +NAME .*\n[0-9a-f]{12} +dmz /,
    );
  });

  it('bans and unbans users', async () => {
    const user = await fixtures.user({ organization: 'acme' });
    expect(await onServer('user', 'ban', String(user.id))).toMatch(/^banned +yes$/m);
    expect(await onServer('user', 'unban', String(user.id), '--json')).toContain('"banned":false');
    const rejected = await assay.run(['user', 'ban', '987654321'], { env: serverEnvironment() });
    expect([rejected.code, rejected.stderr]).toEqual([1, 'assay: Not found, or you do not have access.\n']);
  });

  it('reads all pages of a list, in four output formats', async () => {
    const names = Array.from({ length: 205 }, (_, index) => `many ${String(index).padStart(3, '0')}`);
    for (const name of names) await fixtures.vulnerabilityTag('acme', name);
    const args = ['tag', 'list', '--search', 'many '];
    const json = JSON.parse(await onServer(...args, '--json')) as { name: string }[];
    expect(json.map(({ name }) => name)).toEqual(names);
    const lines = (await onServer(...args, '--jsonl')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(json);
    const csv = (await onServer(...args, '--csv')).split('\r\n');
    expect(csv[0]).toBe('id,name,editable,organization_profile_id,count');
    expect(csv.slice(1, -1).map((line) => line.split(',')[1])).toEqual(names);
    const table = (await onServer(...args)).trimEnd().split('\n');
    expect(table).toHaveLength(1 + names.length);
    expect(new Set(table.map((line) => line.length)).size).toBeLessThanOrEqual(3);
    expect((await onServer(...args, '--limit', '3', '--jsonl')).trimEnd().split('\n')).toHaveLength(3);
  });

  it('has the output of the data folder for commands that differ there', async () => {
    const people = JSON.parse(await onServer('user', 'list', '--json')) as { email: string }[];
    expect(people.map(({ email }) => email)).toContain(admin.email);
    expect(await onServer('user', 'create', '--email', 'new@acme.example', '--json')).toContain('invite_url');
    const { code, stderr } = await assay.run(['user', 'create', '--email', 'staff@acme.example', '--staff'], {
      env: serverEnvironment(),
    });
    expect([code, stderr]).toEqual([2, 'assay: --staff cannot be used with --server.\n']);
    // With an option that only the operation has, the data folder uses the operation too.
    expect(await assay.json('user', 'list', '--no-banned')).toEqual([]);
  });

  it('accepts a request body, which options override', async () => {
    const file = join(assay.database.dataDirectory, 'tag.json');
    writeFileSync(file, JSON.stringify({ name: 'from a file' }));
    expect(await onServer('tag', 'create', '--json-body', file)).toMatch(/^name +from a file$/m);
    const { stdout } = await assay.run(['tag', 'create', '--json-body', '-', '--name', 'on top'], {
      env: serverEnvironment(),
      input: JSON.stringify({ name: 'below' }),
    });
    expect(stdout).toMatch(/^name +on top$/m);
    rmSync(file);
  });

  it('creates the hosts of a range after a preview, except those that exist', async () => {
    const create = (...options: string[]) =>
      assay.run(['asset', 'create', '--organization-uid', 'acme', '--asset-type', 'host', ...options], {
        env: serverEnvironment(),
      });
    expect((await create('--location', '172.31.0.2', '--name', 'Known')).code).toBe(0);
    expect(await create('--location', '172.31.0.1-3')).toEqual({
      code: 2,
      stdout: 'create  172.31.0.1\nexists  172.31.0.2\ncreate  172.31.0.3\n',
      stderr: 'assay: Nothing was created. Add --yes to create 2 hosts.\n',
    });
    const list = async () =>
      JSON.parse(await onServer('asset', 'list', '--ip-range', '172.31.0.0/16', '--json'));
    expect(await list()).toHaveLength(1);
    expect((await create('--location', '172.31.0.1-3', '--yes', '--criticality', 'low')).stdout).toBe(
      'Created 2 hosts. 1 host existed.\n',
    );
    expect(
      (await list()).map(({ location, name, criticality }: any) => [location, name, criticality]),
    ).toEqual([
      ['172.31.0.1', '', 'low'],
      ['172.31.0.2', 'Known', 'undefined'],
      ['172.31.0.3', '', 'low'],
    ]);
    expect(await create('--location', '172.31.0.1-3')).toMatchObject({
      code: 2,
      stderr: 'assay: All hosts of this range exist.\n',
    });
    for (const [location, error] of [
      ['172.31.0.0/16', 'has more than 1,024 addresses. Use smaller ranges.'],
      ['172.31.0.9-1', 'ends before it begins.'],
      ['172.31.0.1-300', 'is not a valid range of addresses.'],
    ] as const)
      expect(await create('--location', location, '--yes')).toEqual({
        code: 2,
        stdout: '',
        stderr: `assay: --location "${location}" ${error}\n`,
      });
    expect(
      (await assay.run(['asset', 'list', '--ip-range', '172.31.0.2'], { env: serverEnvironment() })).stdout,
    ).toMatch(/ Undefined /);
  });

  it('fails with a token in the environment and neither a server nor a data directory', async () => {
    const env = { ASSAY_TOKEN: admin.token, ASSAY_DATA: '' };
    expect(await assay.run(['tag', 'list'], { env })).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'assay: ASSAY_TOKEN requires a server. Set ASSAY_SERVER, or choose a data directory with --data.\n',
    });
  });

  it('fails if the token is rejected or the server is unreachable', async () => {
    const rejected = await assay.run(['tag', 'list'], {
      env: { ASSAY_SERVER: server.origin, ASSAY_TOKEN: 'assay_nonsense' },
    });
    expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringMatching(/^assay: .*assay login/)]);
    const silent = await assay.run(['tag', 'list', '--server', 'http://127.0.0.1:2', '--token', 'x']);
    expect(silent.code).toBe(1);
    expect(silent.stderr).toBe('assay: Cannot connect to http://127.0.0.1:2 (ECONNREFUSED).\n');
    const tokenless = await assay.run(['tag', 'list', '--server', server.origin]);
    expect([tokenless.code, tokenless.stderr]).toEqual([
      2,
      expect.stringContaining(`run "assay login ${server.origin}"`),
    ]);
    const conflict = await assay.run(['tag', 'list', '--server', server.origin, '--data', 'x']);
    expect(conflict.code).toBe(2);
  });
});

describe('A tour of the commands with a server', () => {
  const json = async (...args: string[]) => JSON.parse(await onServer(...args, '--json'));

  it('creates an assessment with members and a scope', async () => {
    const dates = ['--starts-on', '2026-12-01', '--ends-on', '2026-12-24'];
    const planned = await json(
      'assessment',
      'create',
      'site-2027',
      '--name',
      'Site',
      '--type',
      'web',
      ...dates,
    );
    expect(planned).toMatchObject({ organization_uid: 'acme', starts_on: '2026-12-01' });
    expect(planned.uid).toMatch(/^site-2027-[0-9a-z]{4}$/);
    const changed = await json(
      'assessment',
      'update',
      planned.uid,
      '--no-ends-on',
      '--tag-list',
      'a',
      '--tag-list',
      'b',
    );
    expect(changed).toMatchObject({ starts_on: '2026-12-01', ends_on: null });
    expect(changed.tags.map(({ name }: { name: string }) => name)).toEqual(['a', 'b']);
    expect(await onServer('assessment', 'list', '--search', 'site-20')).toMatch(
      /^UID +NAME .*\nsite-2027-[0-9a-z]{4} +Site +web /,
    );
    const group = await json('group', 'create', '--name', 'Web team');
    const tester = await fixtures.user({ organization: 'acme' });
    const members = JSON.stringify({ userUid: tester.uid, role: 'assessment_member' });
    await json('group', 'member', 'add', String(group.id), '--members', members);
    expect(await onServer('group', 'member', 'list', String(group.id))).toContain(tester.email);
    const nobody = JSON.stringify({ userUid: 'nobody', role: 'assessment_member' });
    const rejected = await assay.run(['group', 'member', 'add', String(group.id), '--members', nobody], {
      env: serverEnvironment(),
    });
    expect([rejected.code, rejected.stderr]).toEqual([
      1,
      'assay: 1 of 1 items failed. See errorDetail above.\n',
    ]);
    expect(rejected.stdout).toMatch(/^USER UID .*ERROR CODE[^]*nobody +error +user_not_found/);
  });

  it('lists assets and exports them to a file', async () => {
    const assetFlags = ['--organization-uid', 'acme', '--asset-type'];
    const host = await json(
      'asset',
      'create',
      ...assetFlags,
      'host',
      '--location',
      '10.1.2.3',
      '--criticality',
      'high',
    );
    await json('asset', 'create', ...assetFlags, 'host', '--location', '192.0.2.1');
    expect(host).toMatchObject({ location: '10.1.2.3', criticality: 'high' });
    const assets = await json(
      'asset',
      'list',
      '--ip-range',
      '10.0.0.0/8',
      '--sort',
      'location',
      '--sort-dir',
      'desc',
    );
    expect(assets.map(({ uid }: { uid: string }) => uid)).toEqual([host.uid]);
    const csv = (await onServer('asset', 'list', '--csv', '--fields', 'uid,location'))
      .trimEnd()
      .split('\r\n');
    expect(csv[0]).toBe('uid,location');
    expect(csv).toContain(`${host.uid},10.1.2.3`);
    const cut = (await onServer('asset', 'list', '--csv', '--limit', '1', '--fields', 'location'))
      .trimEnd()
      .split('\r\n');
    expect([cut.length, cut[0]]).toEqual([2, 'uid,location']);
    expect(await onServer('asset', 'delete', host.uid)).toBe('Deleted.\n');
  });

  it('creates and triages vulnerabilities', async () => {
    const report = ['--assessment-id', 'acme-web', '--severity', 'High', '--cvss-score', '7.5'];
    const evidence = ['--validation-steps', '[{"detail":"Open the page"}]', '--cwe-ids', 'cwe-79'];
    const created = await json(
      'vulnerability',
      'create',
      '--title',
      '=Script in a name',
      ...report,
      ...evidence,
    );
    expect(created).toMatchObject({ title: '=Script in a name', cvss_score: 7.5, cwe_ids: ['CWE-79'] });
    expect(await onServer('vulnerability', 'get', String(created.id))).toMatch(/^title +=Script in a name$/m);
    const due = ['--due-on', '2027-01-31', '--assignee-id', String(admin.id)];
    const complete = ['--title', 'Script in a name', ...report];
    const edited = await json('vulnerability', 'replace', String(created.id), ...complete, ...due);
    expect(edited).toMatchObject({ due_on: '2027-01-31', cwe_ids: [], assignee: { id: admin.id } });
    const cleared = await json('vulnerability', 'replace', String(created.id), ...complete, '--no-due-on');
    expect(cleared).toMatchObject({ due_on: null, assignee: { id: admin.id } });
    expect(await onServer('vulnerability', 'statuses')).toMatch(/Accepted Risk/);
    const wrong = [
      'vulnerability',
      'create',
      '--title',
      'x',
      '--assessment-id',
      'acme-web',
      '--severity',
      'Hoch',
    ];
    expect((await assay.run(wrong, { env: serverEnvironment() })).stderr).toMatch(/^assay: .*--severity/);
    const filters = [
      '--severity',
      'High',
      '--severity',
      'Low',
      '--assessment-id',
      'acme-web',
      '--sort',
      '-updated_at',
    ];
    const vulnerabilities = await json('vulnerability', 'list', ...filters, '--fields', 'id,title');
    expect(vulnerabilities).toContainEqual({ id: created.id, title: 'Script in a name' });
    const csvOf = async (...options: string[]) =>
      (await onServer('vulnerability', 'list', ...filters, '--csv', ...options)).split('\r\n');
    const csv = await csvOf();
    expect(csv[0]).toBe(
      'id,title,severity,status,cvss_score,assessment,assets,assignee,due_on,tags,cve_ids,cwe_ids,source,created_at,closed_at',
    );
    expect(csv).toHaveLength(vulnerabilities.length + 2);
    expect(csv[1]).toContain(',Assessment acme-web,');
    expect(await csvOf('--limit', '1')).toEqual([csv[0], csv[1], '']);
    expect((await csvOf('--limit', '1', '--fields', 'title,tags'))[0]).toBe('id,title,tags');
    expect((await csvOf('--layout', 'full'))[0]).toMatch(/^id,title,description,.*,listing,/);
    const bulkFlags = ['--ids', String(created.id), '--set', '{"status_id":2}'];
    expect(await json('vulnerability', 'bulk-update', ...bulkFlags)).toMatchObject({ updated_count: 1 });
    expect(await onServer('vulnerability', 'delete', String(created.id))).toBe('Deleted.\n');
  });

  it('gives access to an assessment with a role', async () => {
    const user = await fixtures.user({ organization: 'acme' });
    const { uid } = await fixtures.assessment('acme');
    const update = ['assessment', 'access', 'update', uid];
    const add = ['--add', String(user.id)];
    expect(await onServer(...update, ...add, '--role', 'assessment_read_only')).toMatch(
      new RegExp(`^ID +UID +NAME +EMAIL +ROLE +VIA\\n${user.id} .* assessment_read_only +name\\n$`),
    );
    expect(await json(...update, ...add)).toMatchObject([{ role: 'assessment_read_only' }]);
    expect(await onServer('assessment', 'access', 'list', uid)).toMatch(/ assessment_read_only +name\n$/);
    for (const [args, message] of [
      [['--role', 'assessment_member'], '--role requires --add.'],
      [[...add, '--role', 'infra_admin'], 'Allowed choices are assessment_member, assessment_developer'],
    ] as const) {
      const { code, stderr } = await assay.run([...update, ...args], { env: serverEnvironment() });
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  });

  it('manages its own organization', async () => {
    expect(await json('organization', 'update', 'acme', '--name', 'Acme Ltd')).toMatchObject({
      name: 'Acme Ltd',
    });
    expect(await onServer('organization', 'list')).toMatch(/acme +Acme Ltd/);
    const rejected = await assay.run(['organization', 'create', 'second', '--name', 'Second'], {
      env: serverEnvironment(),
    });
    expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringMatching(/^assay: .*\n$/)]);
    // With the data folder, only the operation has the option --name.
    expect(await assay.json('organization', 'update', 'acme', '--name', 'Acme AG')).toMatchObject({
      name: 'Acme AG',
      require_second_factor: false,
    });
  });

  it('comments on a vulnerability, and reads the audit log', async () => {
    const { id } = await fixtures.vulnerability('acme-web');
    const comment = await json('vulnerability', 'comment', 'create', String(id), '--text', 'Seen = again');
    await json('vulnerability', 'comment', 'update', String(id), String(comment.id), '--text', 'Seen twice');
    expect(await onServer('vulnerability', 'comment', 'list', String(id))).toMatch(/ Seen twice$/m);
    await onServer('vulnerability', 'update', String(id), '--status-id', '5', '--tag-list', 'done');
    const entries = await json('vulnerability', 'timeline', String(id), '--sort', '-at');
    expect(entries.map(({ kind }: { kind: string }) => kind)).toContain('status');
    const events = await json('audit', 'list', '--limit', '2', '--action', 'vulnerability.update');
    expect(events[0]).toMatchObject({ action: 'vulnerability.update', object_id: String(id) });
    expect(await onServer('audit', 'list', '--csv')).toMatch(/^id,at,action,/);
    expect(await onServer('audit', 'list', '--limit', '1')).toContain(`  ${admin.email}  `);
  });

  it('accepts choices in any case, and shows the operator in the audit log', async () => {
    const { id } = await fixtures.vulnerability('acme-web');
    await onServer('vulnerability', 'update', String(id), '--tag-list', 'shouted');
    const severity = (await json('vulnerability', 'get', String(id))).severity as string;
    for (const text of [severity, severity.toLowerCase(), severity.toUpperCase()])
      expect(await json('vulnerability', 'list', '--tag', 'shouted', '--severity', text)).toMatchObject([
        { id },
      ]);
    await assay.json('organization', 'create', 'shouted', '--name', 'Shouted');
    expect((await assay.run(['audit', 'list', '--limit', '1'])).stdout).toMatch(
      / organization\.create .* command_line /,
    );
  });

  it('creates a token with some scopes', async () => {
    const created = await json(
      'token',
      'create',
      '--name',
      'script',
      '--scopes',
      'api',
      '--expires',
      '1h',
      '--allow-ip',
      '10.0.0.0/8',
    );
    expect(created).toMatchObject({ name: 'script', scopes: ['api'], allowed_addresses: ['10.0.0.0/8'] });
    expect(Date.parse(created.expires_at) - Date.now()).toBeLessThanOrEqual(3_600_000);
    expect(await onServer('token', 'list')).toContain(created.id);
    await onServer('token', 'revoke', created.id);
    const ownToken = await assay.run(['token', 'create', '--name', 'x', '--user', admin.email], {
      env: serverEnvironment(),
    });
    expect([ownToken.code, ownToken.stderr]).toEqual([2, 'assay: --user cannot be used with --server.\n']);
    const without = await assay.run(['token', 'create']);
    expect(without.stderr).toContain("required option '--user <user>' not specified");
  });
});

describe('assay login', () => {
  it('signs in with a browser, stores the tokens privately, refreshes and revokes them', async () => {
    const folder = join(assay.database.dataDirectory, 'settings');
    const file = join(folder, 'assay/login.json');
    const account = await fixtures.account({ organization: 'acme' });
    const browser = createFormClient(server);
    await browser.signIn(account.email, account.password);

    const env = { XDG_CONFIG_HOME: folder };
    const command = (...args: string[]) => {
      const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
      const texts = { stdout: '', stderr: '' };
      stdout.on('data', (chunk: Buffer) => (texts.stdout += chunk.toString()));
      stderr.on('data', (chunk: Buffer) => (texts.stderr += chunk.toString()));
      return { stderr, texts, code: runCli(args, { stdin, stdout, stderr, env }) };
    };
    const login = command('login', server.origin, '--no-browser');
    const address = await new Promise<string>((resolve, reject) => {
      login.stderr.on('data', () => {
        const url = /^http\S+$/m.exec(login.texts.stderr)?.[0];
        if (url !== undefined) resolve(url);
      });
      void login.code.then((code) => reject(new Error(`It ended with ${code}: ${login.texts.stderr}`)));
    });
    const path = address.slice(server.origin.length);
    const page = await browser.open(path);
    expect(page.text).toContain('Command line');
    const response = await browser.submit(page, { decision: 'allow' }, path);
    // Another user of this machine can find the port, but not the state.
    const strange = new URL(response.location ?? '');
    strange.searchParams.set('state', 'guessed');
    expect((await fetch(strange)).status).toBe(404);
    expect(await (await fetch(response.location ?? '')).text()).toContain('You are signed in.');
    expect(await login.code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const whoami = async () => {
      const { code, texts } = command('user', 'whoami', '--json');
      expect([await code, texts.stderr]).toEqual([0, '']);
      return JSON.parse(texts.stdout) as { email: string };
    };
    expect(await whoami()).toMatchObject({ email: account.email });

    const saved = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...saved, expires_at: 0 }));
    // Concurrent commands: using a refresh token twice would revoke all tokens.
    expect(await Promise.all([whoami(), whoami()])).toEqual([
      expect.objectContaining({ email: account.email }),
      expect.objectContaining({ email: account.email }),
    ]);
    const renewed = JSON.parse(readFileSync(file, 'utf8'));
    expect(renewed.refresh_token).not.toBe(saved.refresh_token);

    const logout = command('logout');
    expect([await logout.code, logout.texts.stderr]).toEqual([0, '']);
    const headers = { authorization: `Bearer ${renewed.access_token}` };
    expect((await server.request('GET', '/v1/users/whoami', { headers })).status).toBe(401);
    expect(() => statSync(file)).toThrow('ENOENT');
    const secondLogout = command('logout');
    expect([await secondLogout.code, secondLogout.texts.stderr]).toEqual([
      1,
      'assay: You are not signed in.\n',
    ]);
  });
});

describe('A command that names a user', () => {
  it('accepts an email address, an id or a uid, with a server and the data folder', async () => {
    const email = 'Jo.Named@acme.example';
    const environment = {
      folder: await assay.json('user', 'create', '--email', email, '--organization', 'acme'),
      server: JSON.parse(await onServer('user', 'create', '--email', email, '--json')),
    };
    const places = {
      folder: (...args: string[]) => assay.json('user', ...args),
      server: async (...args: string[]) => JSON.parse(await onServer('user', ...args, '--json')),
    };
    for (const mode of ['folder', 'server'] as const) {
      const [user, { id, uid }] = [places[mode], environment[mode]];
      expect(await user('get', email.toLowerCase())).toMatchObject({ id, uid });
      expect(await user('update', String(id), '--name', 'Jo')).toMatchObject({ id, name: 'Jo' });
      // A user with a token is banned, not deleted.
      if (mode === 'folder') await assay.json('token', 'create', '--user', email);
      else await fixtures.token(id);
      expect(await user('ban', uid)).toMatchObject({ banned: true });
      expect(await user('unban', email)).toMatchObject({ id, banned: false });
    }
    const nobody = {
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('User "x@y.example" not found.'),
    };
    expect(await assay.run(['user', 'get', 'x@y.example'])).toEqual(nobody);
    expect(await assay.run(['user', 'get', 'x@y.example'], { env: serverEnvironment() })).toEqual(nobody);
    const user = await fixtures.user({ organization: 'acme' });
    const ownUser = await assay.run(['user', 'get', user.email, '--json'], {
      env: { ...serverEnvironment(), ASSAY_TOKEN: user.token },
    });
    expect(JSON.parse(ownUser.stdout)).toMatchObject({ id: user.id });
  });
});

describe('An empty list', () => {
  const UID = 'f'.repeat(24);

  it.each([
    [['vulnerability', 'list', '--assessment-id', 'typo'], 'Assessment "typo"', 'assessment'],
    [['vulnerability', 'list', '--assessment-id', 'typo', '--json'], 'Assessment "typo"', 'assessment'],
    [['vulnerability', 'list', '--assessment-id', 'typo', '--limit', '1'], 'Assessment "typo"', 'assessment'],
    [['vulnerability', 'summary', '--assessment-id', 'typo'], 'Assessment "typo"', 'assessment'],
    [['vulnerability', 'list', '--assessment-group-id', '99999'], 'Group "99999"', 'group'],
    [['vulnerability', 'list', '--asset-uid', UID], `Asset "${UID}"`, 'asset'],
    [['vulnerability', 'list', '--import-id', '99999'], 'Import "99999"', 'import'],
    [['vulnerability', 'list', '--assignee-id', '99999'], 'User "99999"', 'user'],
    [['vulnerability', 'list', '--organization-uid', 'typo'], 'Organization "typo"', 'organization'],
    [['assessment', 'list', '--assessment-group-id', '99999'], 'Group "99999"', 'group'],
    [['asset', 'list', '--listing-uid', 'typo'], 'Assessment "typo"', 'assessment'],
    [['asset', 'list', '--organization-uid', 'typo'], 'Organization "typo"', 'organization'],
    [['import', 'list', '--assessment-id', 'typo'], 'Assessment "typo"', 'assessment'],
    [['session', 'list', '--tester-id', '99999'], 'User "99999"', 'user'],
  ])('of %j is an error, as it names what does not exist', async (args, object, list) => {
    for (const options of [{}, { env: serverEnvironment() }])
      expect(await assay.run(args, options)).toEqual({
        code: 1,
        stdout: '',
        stderr: `assay: ${object} not found. Run "assay ${list} list" to list those that you have access to.\n`,
      });
  });

  it('is none if all that its filters name exists', async () => {
    await fixtures.assessment('acme', 'acme-empty');
    for (const args of [
      ['vulnerability', 'list', '--assessment-id', 'acme-empty'],
      ['asset', 'list', '--listing-uid', 'acme-empty'],
      ['vulnerability', 'list', '--assignee-id', String(admin.id)],
    ])
      expect(await onServer(...args)).toBe('No results.\n');
  });

  it('of a CSV export is an error as well', async () => {
    const args = ['vulnerability', 'list', '--assessment-id', 'typo', '--csv'];
    const { code, stdout, stderr } = await assay.run(args, { env: serverEnvironment() });
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('Assessment "typo" not found.')]);
  });
});
