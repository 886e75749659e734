import { sql } from 'kysely';
import { hash } from '@node-rs/argon2';
import { expect } from 'vitest';
import { cliChangeContext } from '../../src/auth/callers.ts';
import { randomText } from '../../src/auth/secrets.ts';
import type { Transaction } from '../../src/db/database.ts';
import { unwrapOutcome } from '../../src/domain/shared/errors.ts';
import { createAssessmentTag } from '../../src/domain/assessments/assessment-tags.ts';
import { grantAssessmentAccess } from '../../src/domain/assessments/assessment-access.ts';
import { createAssessment } from '../../src/domain/assessments/create-assessment.ts';
import { createAssets } from '../../src/domain/assets/create-assets.ts';
import { hasLocation, type NewAsset } from '../../src/domain/assets/insert-assets.ts';
import type { Asset } from '../../src/domain/assets/read-asset.ts';
import { createOAuthClient, type NewOAuthClient } from '../../src/domain/tokens/oauth-clients.ts';
import { addGroupMembers } from '../../src/domain/assessments/add-group-members.ts';
import type { GroupRole } from '../../src/auth/roles.ts';
import { createGroup } from '../../src/domain/assessments/update-group.ts';
import { planListingUpdate, updateListingAssets } from '../../src/domain/assessments/update-listing.ts';
import {
  addOrganizationToGroup,
  createOrganizationGroup,
} from '../../src/domain/organizations/organizations.ts';
import { insertTestingSession, sessionRunningError } from '../../src/domain/assessments/testing-sessions.ts';
import { issueToken } from '../../src/domain/tokens/tokens.ts';
import { createUser, type NewUser } from '../../src/domain/users/users.ts';
import { createOrganization } from '../../src/domain/users/staff-organizations.ts';
import type { VulnerabilityInput } from '../../src/domain/vulnerabilities/create-vulnerability.ts';
import { createVulnerability } from '../../src/domain/vulnerabilities/create-vulnerability.ts';
import { createVulnerabilityTag } from '../../src/domain/vulnerabilities/vulnerability-tags.ts';
import type { TestResponse, TestServer } from './server.ts';

export interface TestUser {
  id: number;
  uid: string;
  email: string;
  /** A personal access token with all scopes of the account. */
  token: string;
}

interface TokenOptions {
  name?: string;
  scopes?: string[];
  expiresAt?: number | null;
  allowedAddresses?: string[];
  kind?: 'personal' | 'jwt';
}

let counter = 0;
/** Hashes with the lowest cost, as hashing takes most of the time of a sign-in. The hash contains its parameters. */
const hashCheaply = (password: string) => hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });
let unknownHash: Promise<string> | undefined;
/** The password of every account of a worker. */
let knownPassword: Promise<{ password: string; passwordHash: string }> | undefined;
async function makePassword() {
  const password = `password ${randomText(12)}`;
  return { password, passwordHash: await hashCheaply(password) };
}
const next = () => (counter += 1);

/** Creates the data of a test with the functions of the product. */
export function createFixtures(server: FixtureServer) {
  const { db } = server.context;
  return {
    ...fixturesWith(server, (unit) => db.write(unit)),
    /** Creates several objects in one transaction, which takes half the time. */
    together: <T>(make: (fixtures: ReturnType<typeof fixturesWith>) => Promise<T>) =>
      db.write((tx) => make(fixturesWith(server, (unit) => unit(tx)))),
  };
}

type FixtureServer = Pick<TestServer, 'context' | 'eventsBefore'>;

interface Maker {
  server: FixtureServer;
  write: <T>(unit: (tx: Transaction) => Promise<T>) => Promise<T>;
  act: () => ReturnType<typeof cliChangeContext>;
}

function fixturesWith(server: FixtureServer, write: Maker['write']) {
  const maker: Maker = { server, write, act: () => cliChangeContext(server.context.clock()) };
  return {
    ...organizationFixtures(maker),
    ...userFixtures(maker),
    ...assessmentFixtures(maker),
    ...assetFixtures(maker),
    ...vulnerabilityFixtures(maker),
    ...auditFixtures(maker),
  };
}

function organizationFixtures({ server, write, act }: Maker) {
  const { db, clock } = server.context;
  return {
    organization: (uid = `org${next()}`) =>
      write((tx) => createOrganization(tx, act(), { uid, name: `Organization ${uid}` })),
    /** A group of organizations, which tags may belong to. */
    async organizationGroup(uid: string, organizations: string[]) {
      const group = await write((tx) => createOrganizationGroup(tx, act(), { uid, name: `Group ${uid}` }));
      for (const organization of organizations)
        await write((tx) => addOrganizationToGroup(tx, act(), uid, organization));
      return group;
    },
    /** Restricts the users of an organization to sign-in with a provider. No provider runs at its URL. */
    async ssoOnly(organization: string): Promise<void> {
      const { id } = await db.read
        .selectFrom('organizations')
        .select('id')
        .where('uid', '=', organization)
        .executeTakeFirstOrThrow();
      await write((tx) =>
        tx
          .insertInto('identity_providers')
          .values({
            organization_id: id,
            issuer: 'https://idp.example',
            client_id: 'assay',
            sealed_secret: null,
            groups_claim: 'groups',
            admin_group: null,
            sso_only: 1,
            trust_email: 0,
            created_at: clock(),
          })
          .execute(),
      );
    },
  };
}

/** Users and their credentials. */
function userFixtures({ server, write, act }: Maker) {
  const { keys } = server.context;
  const tokenIn = (tx: Transaction, userId: number, options: TokenOptions = {}) =>
    issueToken(tx, act(), keys, { userId, kind: 'personal', expiresAt: null, ...options });
  return {
    token: (userId: number, options?: TokenOptions) => write((tx) => tokenIn(tx, userId, options)),
    /** A user who has signed in and has a token; platform staff if `organization` is absent. */
    async user(input: Partial<NewUser> = {}): Promise<TestUser> {
      // All of them share one unknown password.
      const passwordHash = await (unknownHash ??= hashCheaply(randomText(20)));
      const email = `user${next()}@example.com`;
      return write(async (tx) => {
        const created = await createUser(tx, act(), { email, passwordHash, ...input });
        return { ...created, token: (await tokenIn(tx, created.id)).token };
      });
    },
    /** A user who can sign in with a password, and has no token. */
    async account(
      input: Partial<NewUser> = {},
    ): Promise<{ id: number; uid: string; email: string; password: string }> {
      const { password, passwordHash } = await (knownPassword ??= makePassword());
      const created = await write((tx) =>
        createUser(tx, act(), { email: `user${next()}@example.com`, passwordHash, ...input }),
      );
      return { ...created, password };
    },
    /** A user who never signed in. */
    invited: (input: Partial<NewUser> = {}) =>
      write((tx) => createUser(tx, act(), { email: `user${next()}@example.com`, ...input })),
    /** An OAuth client; by default public, with one redirect URI. */
    client: (input: Partial<NewOAuthClient> = {}) =>
      write((tx) =>
        createOAuthClient(tx, act(), {
          name: `Application ${next()}`,
          kind: 'public',
          redirectUris: ['https://app.example/callback'],
          implicit: false,
          userId: null,
          ...input,
        }),
      ),
  };
}

/** Assessments with their groups, tags and testing sessions. */
function assessmentFixtures({ write, act }: Maker) {
  return {
    assessment: (organization: string, uid = `assessment-${next()}`, groupId?: number) =>
      write((tx) => createAssessment(tx, act(), { uid, name: `Assessment ${uid}`, organization, groupId })),
    access: (assessmentUid: string, userId: number) =>
      write((tx) => grantAssessmentAccess(tx, act(), assessmentUid, userId)),
    group: (organization: string) =>
      write((tx) => createGroup(tx, act(), { organization, name: `Group ${next()}` })),
    member: (groupId: number, userUid: string, role: GroupRole) =>
      write((tx) => addGroupMembers(tx, act(), groupId, [{ userUid, role }])),
    assessmentTag: (assessment: string, name = `tag ${next()}`) =>
      write((tx) => createAssessmentTag(tx, act(), { assessment, name })),
    /** Times are milliseconds since 1970; the end is `null` while the session runs. */
    testingSession: (assessment: string, testerId: number, startedAt: number, endedAt: number | null) =>
      write(async (tx) => {
        const session = await insertTestingSession(
          tx,
          act(),
          {
            assessment: await tx
              .selectFrom('assessments')
              .select(['id', 'uid', 'organization_id as organizationId'])
              .where('uid', '=', assessment)
              .executeTakeFirstOrThrow(),
            tester: await tx
              .selectFrom('users')
              .select(['id', 'uid', 'staff'])
              .where('id', '=', testerId)
              .executeTakeFirstOrThrow(),
            startedAt,
            endedAt,
            note: '',
          },
          endedAt === null ? 'testing-session.start' : 'testing-session.log',
        );
        if (session === undefined) throw sessionRunningError();
        // As if the tester had entered it.
        await sql`update testing_sessions set entered_by = tester_id,
          by_staff = (select staff from users where users.id = tester_id) where id = ${session.id}`.execute(
          tx,
        );
        return session;
      }),
  };
}

function assetFixtures({ write, act }: Maker) {
  return {
    asset: (input: Pick<NewAsset, 'organization'> & Partial<NewAsset>) =>
      write(async (tx) => {
        const number = next();
        const { type = 'webapp' } = input;
        const location =
          type === 'host' ? `host-${number}.example.test` : `https://asset-${number}.example.test/`;
        const [asset] = unwrapOutcome(
          await createAssets(
            tx,
            act(),
            [{ type, name: `Asset ${number}`, ...(hasLocation(type) ? { location } : {}), ...input }],
            () => '',
          ),
        );
        return asset as Asset;
      }),
    /** Associates an asset with a listing, which is an assessment. */
    list: (listing: string, assetUid: string, scopeRules?: string[]) =>
      write((tx) =>
        updateListingAssets(
          tx,
          act(),
          listing,
          planListingUpdate({
            add: [{ assetUid, ...(scopeRules && { scopeRules: scopeRules.map((rule) => ({ rule })) }) }],
          }),
        ),
      ),
  };
}

function vulnerabilityFixtures({ write, act }: Maker) {
  return {
    /** Of the organization itself, unless staff reported it. */
    async vulnerability(
      assessment: string,
      { byStaff = false, ...input }: Partial<VulnerabilityInput> & { byStaff?: boolean } = {},
    ) {
      const title = `Vulnerability ${next()}`;
      return write(async (tx) => {
        const { id } = await createVulnerability(tx, act(), {
          assessment,
          title,
          severity: 'High',
          ...input,
        });
        if (!byStaff)
          await tx
            .updateTable('vulnerabilities')
            .set({ reported_by_staff: 0 })
            .where('id', '=', id)
            .execute();
        return { id };
      });
    },
    vulnerabilityTag: (organization: string, name = `tag ${next()}`, editable = true) =>
      write((tx) =>
        createVulnerabilityTag(tx, act(), { organization: { uid: organization }, name, editable }),
      ),
  };
}

function auditFixtures({ server: { context, eventsBefore } }: Maker) {
  const { db } = context;
  return {
    /**
     * All audit events since the file started the server or got the shared one, oldest first.
     * @param ofJobs includes the events of jobs, which on a shared server also process data of other files
     */
    async auditEvents({ ofJobs = eventsBefore === undefined } = {}) {
      await context.deniedAttempts.flush();
      return db.read
        .selectFrom('audit_events')
        .selectAll()
        .where('id', '>', eventsBefore ?? 0)
        .$if(!ofJobs, (query) => query.where('actor_kind', '<>', 'system'))
        .orderBy('id')
        .execute();
    },
  };
}

/** The columns of an audit event that tell who sent a request. */
export const columnsOfRequest = ({ id }: Pick<TestUser, 'id'>, { headers }: TestResponse) => ({
  id: expect.any(Number),
  actor_kind: 'user',
  user_id: id,
  count: 1,
  denied_key: null,
  internal: 0,
  credential_id: expect.any(String),
  address: '127.0.0.1',
  request_id: headers.get('x-request-id'),
});
