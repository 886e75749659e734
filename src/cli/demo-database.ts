import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../runtime/context.ts';
import { cliAttribution } from '../auth/callers.ts';
import { renewDemoClients } from '../demo/oauth-clients.ts';
import { storeEvidence } from '../demo/evidence/store-evidence.ts';
import { demoFacts, loadDemo, renewDemo } from '../demo/load.ts';
import { newDemoSecrets } from '../demo/secrets.ts';
import type { DemoFacts, DemoManifest } from '../demo/manifest.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { DOCS_REDIRECT } from '../domain/tokens/oauth-clients.ts';
import { hasOrganizations } from '../domain/organizations/organizations.ts';
import { deleteUnreferenced, storeContent } from '../files/file-storage.ts';
import { writePrivateJson } from './private-file.ts';

/** How long a load by another process may take to write the manifest after its commit, in milliseconds. */
const HANDOVER = 5_000;

export interface DemoState {
  manifest: DemoManifest;
  /** The file that holds it. */
  file: string;
  /**
   * - `loaded`: this call made the data
   * - `kept`: it was there, with its manifest
   * - `renewed`: it was there and the manifest was not, so the accounts got new passwords and tokens
   */
  outcome: 'loaded' | 'kept' | 'renewed';
}

/**
 * Sees to it that the demo data is in the database and its manifest in the data folder, once and for all: a second
 * call, also one by another process at the same time, changes nothing.
 * @param onlyIntoEmpty load nothing into a database that holds an organization
 * @returns `undefined` when there is no demo data, and there was to be none
 * @throws Failure `conflict` when something else has one of its uids or addresses
 */
export async function ensureDemo(context: Context, onlyIntoEmpty: boolean): Promise<DemoState | undefined> {
  const { config, db, keys, clock, addresses } = context;
  const file = join(config.dataDirectory, 'demo.json');
  if ((await demoFacts(db.read)) === undefined) {
    if (onlyIntoEmpty && (await hasOrganizations(db.read))) return undefined;
    const secrets = await newDemoSecrets();
    const stored: string[] = [];
    try {
      const evidence = await storeEvidence((content) =>
        storeContent(context, singleChunk(content), (key) => stored.push(key)),
      );
      const manifest = await db.write((tx) =>
        loadDemo(tx, keys, secrets, evidence, addresses.clientBaseUrl, clock()),
      );
      writePrivateJson(file, manifest);
      return { manifest, file, outcome: 'loaded' };
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'conflict') throw error;
      // Another process that loads it at the same time was faster, or else the name really is taken.
      if ((await demoFacts(db.read)) === undefined) throw error;
    } finally {
      // What nothing refers to: all of them, when the load failed.
      await deleteUnreferenced(context, stored);
    }
  }
  const found = await demoFacts(db.read);
  if (found === undefined) return undefined;
  const { facts, loadedAt } = found;
  const kept = await readManifest(file, facts, loadedAt + HANDOVER);
  if (kept !== undefined)
    return { manifest: await withClients(context, file, kept, facts), file, outcome: 'kept' };
  const secrets = await newDemoSecrets();
  const manifest = await db.write((tx) =>
    renewDemo(tx, keys, facts, secrets, addresses.clientBaseUrl, clock()),
  );
  writePrivateJson(file, manifest);
  return { manifest, file, outcome: 'renewed' };
}

async function* singleChunk(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

/**
 * Writes where the server is now reached into the manifest, if that is not there yet.
 * @returns the demo with the manifest as it is then
 */
export function updateManifestOrigin(demo: DemoState, clientBaseUrl: string): DemoState {
  const { oauthClients } = demo.manifest;
  const redirect_uri = clientBaseUrl + DOCS_REDIRECT;
  if (oauthClients.implicit.redirect_uri === redirect_uri) return demo;
  const implicit = { ...oauthClients.implicit, redirect_uri };
  const manifest = { ...demo.manifest, oauthClients: { ...oauthClients, implicit } };
  writePrivateJson(demo.file, manifest);
  return { ...demo, manifest };
}

/** A manifest as a version without clients wrote it. */
type StoredManifest = Omit<DemoManifest, 'oauthClients'> & Partial<Pick<DemoManifest, 'oauthClients'>>;

/** Adds the clients to a manifest that has none. */
async function withClients(
  { db, addresses, clock }: Context,
  file: string,
  { oauthClients: known, ...rest }: StoredManifest,
  { users }: DemoFacts,
): Promise<DemoManifest> {
  if (known !== undefined) return { ...rest, oauthClients: known };
  const oauthClients = await db.write((tx) =>
    renewDemoClients(tx, cliAttribution(clock()), users.staff.id, addresses.clientBaseUrl),
  );
  const manifest = { ...rest, oauthClients };
  writePrivateJson(file, manifest);
  return manifest;
}

/** @returns the manifest in the file if it is of this load; waits for one until the deadline */
async function readManifest(
  file: string,
  facts: DemoFacts,
  deadline: number,
): Promise<StoredManifest | undefined> {
  for (;;) {
    const manifest = parseManifest(file);
    // The file may have been left behind by another database.
    if (manifest?.users?.admin?.uid === facts.users.admin.uid) return manifest;
    if (Date.now() >= deadline) return undefined;
    await delay(50);
  }
}

function parseManifest(file: string): StoredManifest | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as StoredManifest;
  } catch {
    return undefined;
  }
}
