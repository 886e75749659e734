import { type ChangeContext, cliChangeContext } from '../auth/callers.ts';
import type { Keys } from '../auth/keys.ts';
import type { ReadConnection, Transaction } from '../db/database.ts';
import { recordEvent } from '../domain/audit/record-event.ts';
import { setPassword } from '../domain/sign-in/passwords.ts';
import { issueToken } from '../domain/tokens/tokens.ts';
import { createUser, type CreatedUser } from '../domain/users/users.ts';
import { Schedule, mondayOf, type DemoUser } from './schedule.ts';
import { renewDemoClients } from './oauth-clients.ts';
import type { StoredEvidence } from './evidence/store-evidence.ts';
import { type DemoContent, type DemoManifest, mapAccounts } from './manifest.ts';
import { loadOrganization } from './load-organization.ts';
import type { DemoSecrets } from './secrets.ts';
import { organizationData } from './organizations.ts';

const DAY = 86_400_000;
const DEMO_LOADED_ACTION = 'demo.load';

/**
 * Loads the demo data: two organizations, in addition to existing data.
 * @param clientBaseUrl base URL of the deployment
 * @returns the manifest, with passwords, tokens and secrets that are not stored elsewhere
 * @throws DomainError `conflict` if one of its uids or email addresses is taken
 */
export async function loadDemo(
  tx: Transaction,
  keys: Keys,
  secrets: DemoSecrets,
  evidence: StoredEvidence,
  clientBaseUrl: string,
  now: number,
): Promise<DemoManifest> {
  const by = cliChangeContext(now);
  const { organizations, staff: staffAccounts } = organizationData();
  // The data starts half a year ago, so that it has a history.
  const start = mondayOf(now - 180 * DAY);
  const testers: DemoUser[] = [];
  for (const { name, email } of staffAccounts) {
    const passwordHash = email === staffAccounts[0].email ? secrets.of(email).hash : secrets.unknown;
    const user = await createUser(tx, { ...by, now: start }, { name, email, passwordHash });
    testers.push({ ...user, organizationId: null, admin: true });
  }

  const [main, secondOrganization] = organizations;
  const schedule = new Schedule();
  const context = { tx, by, schedule, secrets, evidence, testers, start };
  const readMainFacts = await loadOrganization(context, main);
  const readOtherFacts = await loadOrganization(context, secondOrganization);
  await schedule.runUntil(now);
  const { organizationId: _none, admin: _admin, ...staff } = testers[0] as DemoUser;
  const first = readMainFacts();
  const facts: DemoContent = { ...first, users: { ...first.users, staff }, other: readOtherFacts() };
  await recordEvent(tx, by, {
    action: DEMO_LOADED_ACTION,
    object: ['organization', main.organization.uid],
    organizationId: facts.organization.id,
    before: null,
    after: facts,
  });
  const oauthClients = await renewDemoClients(tx, by, staff.id, clientBaseUrl);
  const accounts = await mapAccounts(facts, async (user) => ({
    ...user,
    password: secrets.of(user.email).password,
    token: await newToken(tx, by, keys, user),
  }));
  return { ...accounts, oauthClients };
}

/** Returns the data of the first load and its time in milliseconds since 1970; `undefined` if there is none. */
export async function readDemoFacts(
  db: ReadConnection,
): Promise<{ facts: DemoContent; loadedAt: number } | undefined> {
  const [main] = organizationData().organizations;
  const event = await db
    .selectFrom('audit_events')
    .innerJoin('organizations', 'organizations.id', 'audit_events.organization_id')
    .select(['audit_events.after', 'audit_events.at'])
    .where('organizations.uid', '=', main.organization.uid)
    .where('audit_events.action', '=', DEMO_LOADED_ACTION)
    .orderBy('audit_events.id')
    .limit(1)
    .executeTakeFirst();
  if (event === undefined || event.after === null) return undefined;
  return { facts: JSON.parse(event.after) as DemoContent, loadedAt: event.at };
}

/**
 * Creates a new manifest after the old one was lost: sets new passwords, issues additional tokens, and renews the
 * client secret.
 * @param clientBaseUrl base URL of the deployment
 */
export async function renewDemo(
  tx: Transaction,
  keys: Keys,
  facts: DemoContent,
  secrets: DemoSecrets,
  clientBaseUrl: string,
  now: number,
): Promise<DemoManifest> {
  const by = cliChangeContext(now);
  const oauthClients = await renewDemoClients(tx, by, facts.users.staff.id, clientBaseUrl);
  const accounts = await mapAccounts(facts, async (user) => {
    const row = await tx.selectFrom('users').select('banned_at').where('id', '=', user.id).executeTakeFirst();
    if (row === undefined || row.banned_at !== null) return user;
    const { password, hash } = secrets.of(user.email);
    await setPassword(tx, by, user.id, hash);
    return { ...user, password, token: await newToken(tx, by, keys, user) };
  });
  return { ...accounts, oauthClients };
}

async function newToken(tx: Transaction, by: ChangeContext, keys: Keys, user: CreatedUser): Promise<string> {
  const request = { userId: user.id, kind: 'personal', expiresAt: null } as const;
  return (await issueToken(tx, by, keys, request)).token;
}
