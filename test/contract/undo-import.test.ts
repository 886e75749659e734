import { beforeEach, describe, expect, it } from 'vitest';
import { cliChangeContext, operatorCaller } from '../../src/auth/callers.ts';
import type { Transaction } from '../../src/db/database.ts';
import { requestUndo, startUndo, type UndoPayload } from '../../src/domain/imports/cancel-import.ts';
import { banUser } from '../../src/domain/users/ban-user.ts';
import { updateUser } from '../../src/domain/users/update-user.ts';
import { eventually } from '../harness/eventually.ts';
import { insertImport, uploadReport, waitForImport } from '../harness/imports.ts';
import { expectProblem } from '../harness/expect-problem.ts';
import { useSharedServer } from '../harness/server.ts';
import { type TestUser, createFixtures } from '../harness/fixtures.ts';
import { host, port, report } from '../importers/reports.ts';

const SITE = 'https://shop.example/';

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

/** A Nuclei report of a day in November 2025 with one result per template. */
const nuclei = (day: number, ...templates: string[]) =>
  templates
    .map((template) =>
      JSON.stringify({
        'template-id': template,
        type: 'http',
        host: 'shop.example',
        'matched-at': `${SITE}${template}`,
        timestamp: `2025-11-${String(day).padStart(2, '0')}T10:00:00Z`,
        info: { name: `Title of ${template}`, severity: 'high' },
      }),
    )
    .join('\n');

const get = async (path: string) => (await server.request('GET', path, { token: admin.token })).body;
const undo = (id: number, { token } = admin) => server.request('POST', `/v1/imports/${id}/undo`, { token });
async function imported(content: string, fields: Record<string, string> = {}, { token } = admin) {
  const started = await uploadReport(server, token, content, {
    assessment_id: assessment.uid,
    targets: SITE,
    ...fields,
  });
  expect(started.status).toBe(202);
  const ended = await waitForImport(server, admin.token, started.body.id);
  expect(ended.state).toBe('succeeded');
  return ended;
}
async function undone(id: number) {
  const { status, body } = await undo(id);
  expect([status, body.id, body.undone]).toEqual([202, id, null]);
  return waitForImport(server, admin.token, id, (job) => job.undone !== null);
}
/** Returns title, status, whether it is closed, and time and import of the last sighting of each finding. */
async function findings() {
  const rows: any[] = await get(`/v1/vulnerabilities?filter[assessment_id][]=${assessment.uid}`);
  return rows
    .map((row) => [
      row.title.replace('Title of ', ''),
      row.status_id,
      row.closed_at !== null,
      row.last_seen_at.slice(0, 10),
      row.last_import_id,
    ])
    .sort();
}
/** Returns title and mark of the findings that are gone or match a filter. */
async function goneTitles(filter = 'filter[gone]=true') {
  const rows: any[] = await get(
    `/v1/vulnerabilities?filter[assessment_id][]=${assessment.uid}&${filter}&fields=title,gone_at,gone_import_id`,
  );
  return rows.map((row) => [row.title.replace('Title of ', ''), row.gone_at, row.gone_import_id]).sort();
}
const count = async () => (await get(`/v1/assessments/${assessment.uid}`)).vulnerability_count;

describe('Operation 82: undo an import', () => {
  it('deletes records that only this import created, and restores those of the previous import', async () => {
    const first = await imported(nuclei(10, 'stays', 'again'));
    const before = await findings();
    const second = await imported(nuclei(11, 'again', 'new'));
    expect(second.result).toMatchObject({ findings_created: 1, findings_seen_again: 1, findings_gone: 1 });
    expect(await count()).toBe(3);

    const ended = await undone(second.id);
    expect(ended.undone).toEqual({
      at: ended.undone.at,
      findings: 1,
      assets: 0,
      statuses: 0,
      kept: 0,
    });
    expect(ended).toEqual({ ...second, undone: ended.undone });
    expect(await findings()).toEqual(before);
    expect(before.map((row) => row.at(-1))).toEqual([first.id, first.id]);
    expect(await count()).toBe(2);
    const actions = (await fixtures.auditEvents())
      .filter(
        ({ object_type: type, object_id: objectId }) => type === 'import' && objectId === String(second.id),
      )
      .map(({ action, user_id: by, after }) => [
        action,
        by,
        action === 'import.undo' ? JSON.parse(after ?? '') : null,
      ]);
    expect(actions).toEqual([
      ['import.start', admin.id, null],
      ['import.end', admin.id, null],
      ['import.undo', admin.id, { findings: 1, assets: 0, statuses: 0, kept: 0 }],
    ]);
  });

  it('restores statuses that the import changed, except those that a person changed since', async () => {
    const first = await imported(nuclei(10, 'back', 'goes', 'goes-too', 'mine'));
    const ids = new Map<string, number>(
      (await get(`/v1/vulnerabilities?filter[import_id][]=${first.id}`)).map((row: any) => [
        row.title,
        row.id,
      ]),
    );
    const set = async (template: string, status: number) => {
      const path = `/v1/vulnerabilities/${ids.get(`Title of ${template}`)}`;
      const { status: patchStatus } = await server.request('PATCH', path, {
        token: admin.token,
        body: { status_id: status },
      });
      expect(patchStatus).toBe(200);
    };
    const fixed = await imported(nuclei(11, 'goes', 'goes-too', 'mine'), { when_gone: 'fix' });
    expect(fixed.result).toMatchObject({ findings_gone: 1 });
    const before = await findings();
    expect(before.find(([title]) => title === 'back')?.slice(1, 3)).toEqual([5, true]);

    const second = await imported(nuclei(12, 'back'), { when_gone: 'fix' });
    expect(second.result).toMatchObject({ findings_reopened: 1, findings_gone: 3 });
    expect((await findings()).map((row) => row[1])).toEqual([2, 5, 5, 5]);
    await set('mine', 3);
    const { undone: counts } = await undone(second.id);
    expect(counts).toMatchObject({ findings: 0, statuses: 3, kept: 1 });
    expect(await findings()).toEqual(
      before.map((row) => (row[0] === 'mine' ? [row[0], 3, false, ...row.slice(3)] : row)),
    );
    // The import no longer counts as seen: the same bytes are applied again.
    const repeated = await imported(nuclei(12, 'back'), { when_gone: 'fix' });
    expect(repeated.result).toMatchObject({ findings_reopened: 1, findings_gone: 3 });
  });

  it('lists findings as gone (operation 15) until they are seen again or the import is undone', async () => {
    await imported(nuclei(10, 'goes', 'goes-too', 'stays'));
    expect(await goneTitles()).toEqual([]);
    const second = await imported(nuclei(11, 'stays'));
    expect(second.result).toMatchObject({ findings_gone: 2 });
    const at = '2025-11-11T10:00:00.000Z';
    const imports = [
      ['goes', at, second.id],
      ['goes-too', at, second.id],
    ];
    expect(await goneTitles()).toEqual(imports);
    expect(await goneTitles('filter[gone]=false')).toEqual([['stays', null, null]]);
    expect(await goneTitles(`filter[gone_import_id][]=${second.id}`)).toEqual(imports);

    // An import that fixes findings that were already gone lists all of them.
    const third = await imported(nuclei(12, 'goes'), { when_gone: 'fix' });
    expect(third.result).toMatchObject({ findings_seen_again: 1, findings_gone: 2 });
    const since = ['goes-too', 'stays'].map((title) => [title, '2025-11-12T10:00:00.000Z', third.id]);
    expect(await goneTitles(`filter[gone_import_id][]=${third.id}`)).toEqual(since);
    expect(await goneTitles()).toEqual(since);
    expect(await goneTitles(`filter[gone_import_id][]=${second.id}`)).toEqual([]);

    const reopening = await imported(nuclei(13, 'goes-too', 'stays'));
    expect(reopening.result).toMatchObject({ findings_reopened: 2, findings_gone: 1 });
    expect(await goneTitles()).toEqual([['goes', '2025-11-13T10:00:00.000Z', reopening.id]]);
    expect(await goneTitles(`filter[gone_import_id][]=${third.id}`)).toEqual([]);
    await undone(reopening.id);
    expect(await goneTitles()).toEqual(since);
    await undone(third.id);
    expect(await goneTitles()).toEqual(imports);
    await undone(second.id);
    expect(await goneTitles()).toEqual([]);
  });

  it('removes hosts that it created and keeps ports of other hosts', async () => {
    const hosts = (...addresses: string[]) =>
      report(addresses.map((address) => host(address, port(443))).join(''));
    const organizationWide = async (content: string) => {
      const { body } = await uploadReport(server, admin.token, content);
      return waitForImport(server, admin.token, body.id);
    };
    await organizationWide(hosts('192.0.2.1'));
    const second = await organizationWide(hosts('192.0.2.1', '192.0.2.2'));
    expect(second.result).toMatchObject({ assets_created: 1 });
    expect((await undone(second.id)).undone).toMatchObject({ assets: 1, findings: 0 });
    const assets: any[] = await get('/api/asset/v2/assets?fields=location');
    expect(assets.map(({ location }) => location)).toEqual(['192.0.2.1']);
  });

  it('returns 409 for a running import, during an undo, and after one', async () => {
    const problem = { area: 'v1', status: 409, kind: 'conflict' } as const;
    for (const state of ['queued', 'running'] as const) {
      const id = await insertImport(server, { organizationId: organization.id, state });
      expectProblem(server, await undo(id), problem);
    }
    const { id } = (await uploadReport(server, admin.token, report(host('10.0.0.1', port(80))))).body;
    await waitForImport(server, admin.token, id);
    const responses = await Promise.all([undo(id), undo(id)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([202, 409]);
    const { undone: counts } = await waitForImport(server, admin.token, id, (job) => job.undone !== null);
    expect(counts).toMatchObject({ assets: 1, kept: 0 });
    expectProblem(server, await undo(id), problem);
  });

  it('allows the user who started it and admins, and returns 403 to others with access, 404 to others', async () => {
    const [starter, otherUser] = [
      await fixtures.user({ organization: organization.uid }),
      await fixtures.user({ organization: organization.uid }),
    ];
    for (const { id } of [starter, otherUser]) await fixtures.access(assessment.uid, id);
    const { body } = await uploadReport(server, starter.token, nuclei(10, 'theirs'), {
      assessment_id: assessment.uid,
    });
    await waitForImport(server, admin.token, body.id);
    expectProblem(server, await undo(body.id, otherUser), { area: 'v1', status: 403, kind: 'forbidden' });
    for (const foreignAdmin of [
      await fixtures.user({ organization: organization.uid }),
      await fixtures.user({ organization: (await fixtures.organization()).uid, admin: true }),
    ])
      expect((await undo(body.id, foreignAdmin)).status).toBe(404);
    expect((await undo(body.id, starter)).status).toBe(202);
    const ended = await waitForImport(server, starter.token, body.id, (job) => job.undone !== null);
    expect(ended.undone).toMatchObject({ findings: 1 });
  });

  it.each(['asset_or', 'asset_client_lw'])(
    'keeps assets that a token with %s cannot delete (operation 78)',
    async (scope) => {
      const { id } = await imported(report(host('192.0.2.1', port(443))));
      const { token } = await fixtures.token(admin.id, { scopes: ['api', scope] });
      expect((await undo(id, { ...admin, token })).status).toBe(202);
      const ended = await waitForImport(server, admin.token, id, (job) => job.undone !== null);
      expect(ended.undone).toMatchObject({ assets: 0, kept: 1 });
      const [asset] = await get('/api/asset/v2/assets?fields=uid');
      const rejected = await server.request('DELETE', `/api/asset/v2/assets/${asset.uid}`, { token });
      expect(rejected.status).toBe(403);
    },
  );

  describe('of a user who loses the right to it', () => {
    const ban = (tx: Transaction, { id }: TestUser) =>
      banUser(tx, cliChangeContext(server.context.clock()), id);
    const revokeAccess = (tx: Transaction, { id }: TestUser) =>
      updateUser(tx, cliChangeContext(server.context.clock()), id, { assessments: [] });
    const jobOf = (id: number) =>
      server.context.db.read.selectFrom('jobs').selectAll().where('key', '=', `import:${id}`);
    const undoEvents = async (id: number) =>
      (await fixtures.auditEvents()).filter(
        ({ action, object_id: objectId }) => action === 'import.undo' && objectId === String(id),
      );

    /** Imports a finding, and queues its undo in a transaction with `meanwhile`. */
    async function queueUndo(
      meanwhile: (tx: Transaction, undo: { starter: TestUser; id: number }) => Promise<unknown>,
    ) {
      const starter = await fixtures.user({ organization: organization.uid });
      await fixtures.access(assessment.uid, starter.id);
      const { id } = await imported(nuclei(10, 'stays'), {}, starter);
      const caller = {
        ...operatorCaller('undo'),
        ...({ kind: 'user', userId: starter.id, uid: starter.uid, admin: false, staff: false } as const),
        organizationId: organization.id,
      };
      const { db, jobs } = server.context;
      await db.write(async (tx) => {
        await requestUndo(tx, { actor: caller, now: server.context.clock() }, id);
        await meanwhile(tx, { starter, id });
      });
      jobs.notify();
      await eventually(async () => expect(await jobOf(id).execute()).toEqual([]));
      return { starter, id };
    }
    const setAttempts = (tx: Transaction, id: number, attempts: number) =>
      tx.updateTable('jobs').set({ attempts }).where('key', '=', `import:${id}`).execute();

    it.each([
      ['the user is banned', 'The account that requested the undo was banned.', ban, 0],
      [
        'the user is banned after a first attempt that did not start it',
        'The account that requested the undo was banned.',
        ban,
        1,
      ],
      [
        'the user loses access',
        'The account that requested the undo may no longer undo the import.',
        revokeAccess,
        0,
      ],
    ])(
      'changes nothing if %s before it runs, and can be requested again',
      async (_event, message, lose, attempts) => {
        const { starter, id } = await queueUndo(async (tx, queued) => {
          await lose(tx, queued.starter);
          await setAttempts(tx, queued.id, attempts);
        });
        expect((await get(`/v1/imports/${id}`)).undone).toBeNull();
        expect(await findings()).toHaveLength(1);
        const undos = await undoEvents(id);
        expect(undos).toMatchObject([{ user_id: starter.id, organization_id: organization.id }]);
        expect(JSON.parse(undos[0]?.after ?? '')).toEqual({ error: { message } });
        expect(server.logs()).toContainEqual(
          expect.objectContaining({ msg: 'an undo did not run', import: id, reason: message }),
        );
        expect((await undone(id)).undone).toMatchObject({ findings: 1 });
      },
    );

    it('continues once it has started, so that it does not stay incomplete', async () => {
      const { id } = await queueUndo(async (tx, queued) => {
        const job = await tx
          .selectFrom('jobs')
          .select('payload')
          .where('key', '=', `import:${queued.id}`)
          .executeTakeFirstOrThrow();
        await startUndo(tx, JSON.parse(job.payload) as UndoPayload, server.context.clock());
        await ban(tx, queued.starter);
      });
      expect((await get(`/v1/imports/${id}`)).undone).toMatchObject({ findings: 1 });
      expect(await findings()).toEqual([]);
    });

    it('ends after attempts that all ended the process, and can be requested again', async () => {
      const { id } = await queueUndo((tx, queued) => setAttempts(tx, queued.id, 4));
      expect((await get(`/v1/imports/${id}`)).undone).toBeNull();
      const message = 'The server crashed repeatedly during the undo. Its log may have the reason.';
      expect(JSON.parse((await undoEvents(id))[0]?.after ?? '')).toEqual({ error: { message } });
      expect((await undone(id)).undone).toMatchObject({ findings: 1 });
    });
  });

  it('is waited for by the deletion of the assessment (operation 84)', async () => {
    const remove = () =>
      server.request('DELETE', `/v1/assessments/${assessment.uid}`, { token: admin.token });
    const { id } = await imported(nuclei(10, 'alone'));
    expectProblem(server, await remove(), { area: 'v1', status: 409, kind: 'conflict' });
    const [row] = await get(`/v1/vulnerabilities?filter[import_id][]=${id}`);
    await server.request('DELETE', `/v1/vulnerabilities/${row.id}`, { token: admin.token });
    const rejected = await remove();
    expectProblem(server, rejected, { area: 'v1', status: 409, kind: 'conflict' });
    expect(rejected.body.detail).toContain('imports that are not undone');
    await undone(id);
    expect((await remove()).status).toBe(204);
  });
});
