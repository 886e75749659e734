import { expect, it } from 'vitest';
import { operatorCaller } from '../../src/auth/callers.ts';
import { AdaptiveWriter } from '../../src/db/concurrency/adaptive-writer.ts';
import type { Transaction } from '../../src/db/database.ts';
import { recordAssetDetections } from '../../src/domain/imports/apply-assets.ts';
import { retimeAssetDetections, undoAssetDetections } from '../../src/domain/imports/undo-assets.ts';
import type { ImportOptions } from '../../src/domain/imports/import-types.ts';
import { importDirectly } from '../harness/direct-imports.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { duringTransaction, interleave } from '../harness/interleave.ts';
import { useSharedServer } from '../harness/server.ts';
import { host, port, report, SEEN } from './reports.ts';

const caller = operatorCaller('a test');
const seenAt = SEEN * 1_000;

const server = await useSharedServer();

/** Two imports of one organization: the first saw an asset, and the second may see it as well. */
async function twoImports() {
  const { db } = server.context;
  const { id: organizationId } = await createFixtures(server).organization();
  const scope = { organizationId, assessment: null };
  const upload = (hosts: string) =>
    importDirectly(db, scope, { format: 'nmap', report: report(hosts), at: seenAt + 1_000 });
  const first = await upload(host('192.0.2.7', port(22)));
  const second = await upload('');
  const assets = () =>
    db.read
      .selectFrom('assets')
      .select(['id', 'first_seen', 'last_seen', 'import_id'])
      .where('organization_id', '=', organizationId)
      .execute();
  const [asset] = await assets();
  if (asset === undefined) throw new Error('The first import made no asset.');
  const job = {
    ...scope,
    id: second.id,
    caller,
    canWriteAssets: true,
    canReport: true,
    options: {} as ImportOptions,
    sha256: '',
    createdAt: seenAt + 1_000,
  };
  return {
    first: { ...scope, id: first.id, assessmentId: null, sha256: '' },
    second: second.id,
    assets,
    seeAsset: (tx: Transaction) =>
      recordAssetDetections(tx, job, [{ id: asset.id, firstSeenAt: seenAt, seenAt }]),
  };
}

it('an undo keeps the assets that an import sees meanwhile', async () => {
  const { first, second, assets, seeAsset } = await twoImports();
  await interleave(server, seeAsset, (tx) =>
    undoAssetDetections(tx, first, { actor: caller, now: seenAt + 2_000 }, 0, 10),
  );
  expect(await assets()).toMatchObject([{ first_seen: seenAt, last_seen: seenAt, import_id: second }]);
});

it('a correction of the time of an import keeps the times of an import that sees the same assets meanwhile', async () => {
  const { first, second, assets, seeAsset } = await twoImports();
  const writer = new AdaptiveWriter(server.context.db, new AbortController().signal, {
    dryRun: false,
    size: 10,
    maxSize: 10,
  });
  const later = seenAt + 5_000;
  await duringTransaction(server, seeAsset, () => retimeAssetDetections(writer, first, later));
  expect(await assets()).toMatchObject([{ first_seen: seenAt, last_seen: later, import_id: second }]);
});
