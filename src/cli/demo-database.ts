import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { cliChangeContext } from '../auth/callers.ts';
import { renewDemoClients } from '../demo/oauth-clients.ts';
import { storeEvidence } from '../demo/evidence/store-evidence.ts';
import { readDemoFacts, loadDemo, renewDemo } from '../demo/load.ts';
import { newDemoSecrets } from '../demo/secrets.ts';
import type { DemoContent, DemoManifest } from '../demo/manifest.ts';
import { DomainError } from '../domain/shared/errors.ts';
import { DOCS_REDIRECT } from '../domain/tokens/oauth-clients.ts';
import { hasOrganizations } from '../domain/organizations/organizations.ts';
import { deleteUnreferenced, storeContent } from '../files/file-storage.ts';
import { writePrivateJson } from './private-file.ts';

/** How many milliseconds after loading the data another process may still write the manifest. */
const HANDOVER = 5_000;

export interface DemoState {
  manifest: DemoManifest;
  file: string;
  /**
   * - `loaded`: this call loaded the data
   * - `kept`: the data and its manifest existed
   * - `renewed`: the manifest was missing, so the accounts got new passwords and tokens
   */
  outcome: 'loaded' | 'kept' | 'renewed';
}

/**
 * Loads the demo data and writes its manifest to the data directory. Idempotent, also across processes.
 * @param requiresEmpty load nothing into a database that has an organization
 * @returns `undefined` if the database has other data and `requiresEmpty` is set
 * @throws DomainError `conflict` if one of its uids or email addresses is taken
 */
export async function ensureDemo(context: Context, requiresEmpty: boolean): Promise<DemoState | undefined> {
  const { config, db, keys, clock, addresses } = context;
  const file = join(config.dataDirectory, 'demo.json');
  if ((await readDemoFacts(db.read)) === undefined) {
    if (requiresEmpty && (await hasOrganizations(db.read))) return undefined;
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
      // Either another process has just loaded the data, or a name is taken.
      if ((await readDemoFacts(db.read)) === undefined) throw error;
    } finally {
      // Deletes all evidence if the load failed.
      await deleteUnreferenced(context, stored);
    }
  }
  const storedFacts = await readDemoFacts(db.read);
  if (storedFacts === undefined) return undefined;
  const { facts, loadedAt } = storedFacts;
  const stored = await readManifest(file, facts, loadedAt + HANDOVER);
  if (stored !== undefined)
    return { manifest: await withClients(context, file, stored, facts), file, outcome: 'kept' };
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

/** Updates the redirect URI in the manifest to the current URL of the server. */
export function updateManifestOrigin(demo: DemoState, clientBaseUrl: string): DemoState {
  const { oauthClients } = demo.manifest;
  const redirect_uri = clientBaseUrl + DOCS_REDIRECT;
  if (oauthClients.implicit.redirect_uri === redirect_uri) return demo;
  const implicit = { ...oauthClients.implicit, redirect_uri };
  const manifest = { ...demo.manifest, oauthClients: { ...oauthClients, implicit } };
  writePrivateJson(demo.file, manifest);
  return { ...demo, manifest };
}

/** Older versions wrote manifests without clients. */
type StoredManifest = Omit<DemoManifest, 'oauthClients'> & Partial<Pick<DemoManifest, 'oauthClients'>>;

/** Creates the clients if the manifest has none. */
async function withClients(
  { db, addresses, clock }: Context,
  file: string,
  { oauthClients: storedClients, ...rest }: StoredManifest,
  { users }: DemoContent,
): Promise<DemoManifest> {
  if (storedClients !== undefined) return { ...rest, oauthClients: storedClients };
  const oauthClients = await db.write((tx) =>
    renewDemoClients(tx, cliChangeContext(clock()), users.staff.id, addresses.clientBaseUrl),
  );
  const manifest = { ...rest, oauthClients };
  writePrivateJson(file, manifest);
  return manifest;
}

/** Waits until the deadline for the manifest of these users, which another process may be writing. */
async function readManifest(
  file: string,
  facts: DemoContent,
  deadline: number,
): Promise<StoredManifest | undefined> {
  for (;;) {
    const manifest = parseManifest(file);
    // The file may be left from an earlier database.
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
