import { expect, it } from 'vitest';
import { cliChangeContext } from '../src/auth/callers.ts';
import { ACCESS_ROLES, GROUP_ROLES, type Role } from '../src/auth/roles.ts';
import { seededRandom } from '../src/demo/random.ts';
import {
  grantAssessmentAccess,
  revokeAssessmentAccess,
} from '../src/domain/assessments/assessment-access.ts';
import { createFixtures, type TestUser } from './harness/fixtures.ts';
import { useSharedServer } from './harness/server.ts';

/**
 * A storm of changes to groups, roles, assessments and accounts. After it, everyone's reach is what follows from the
 * rules, here kept a second time in memory.
 */

const server = await useSharedServer();
const fixtures = createFixtures(server);

const SEES_ALL: readonly Role[] = [
  'assessment_read_only',
  'assessment_developer',
  'assessment_member',
  'assessment_creator',
  'assessment_operator',
  'rbac_group_admin',
];
const TRIAGES = SEES_ALL.slice(2);

interface Assessment {
  uid: string;
  id: number;
  organizationId: number;
  vulnerability: number;
  draft: number;
  /** How many vulnerabilities are no drafts. */
  published: number;
  group: number | null;
}

interface Person {
  user: TestUser;
  isAdmin: boolean;
  isBanned: boolean;
  /** By uid of an assessment. */
  byName: Map<string, Role>;
  byProvider: Set<string>;
  /** By id of a group. */
  byGroup: Map<number, Role>;
}

it.each([1, 2, 3])('A storm of changes leaves everyone the reach of their roles (seed %i)', async (seed) => {
  const random = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[random.between(0, list.length - 1)] as T;
  const organization = await fixtures.organization();
  const owner = await fixtures.user({ organization: organization.uid, admin: true });
  const staff = await fixtures.user({ assignedTo: [organization.uid] });
  const groups: number[] = [];
  const addGroup = async () => {
    const { id } = await fixtures.group(organization.uid);
    // Keeps the group an admin.
    await fixtures.member(id, owner.uid, 'rbac_group_admin');
    groups.push(id);
  };
  for (let index = 0; index < 3; index += 1) await addGroup();
  const assessments: Assessment[] = [];
  for (let index = 0; index < 6; index += 1) {
    const group = index % 2 === 0 ? pick(groups) : null;
    const { uid, id } = await fixtures.assessment(organization.uid, undefined, group ?? undefined);
    const vulnerability = (await fixtures.vulnerability(uid)).id;
    const draft = (await fixtures.vulnerability(uid, { draft: true })).id;
    assessments.push({ uid, id, organizationId: organization.id, vulnerability, draft, published: 1, group });
  }
  const people: Person[] = [];
  for (let index = 0; index < 6; index += 1)
    people.push({
      user: await fixtures.user({ organization: organization.uid }),
      isAdmin: false,
      isBanned: false,
      byName: new Map(),
      byProvider: new Set(),
      byGroup: new Map(),
    });

  const call = async (method: string, path: string, body?: unknown, { token } = owner) => {
    const response = await server.request(method, path, { token, body });
    expect([method, path, response.status]).toEqual([
      method,
      path,
      expect.toSatisfy((status) => status < 300),
    ]);
    return response.body;
  };
  const members = (group: number) => `/api/assessment/v1/assessment-groups/${group}/members`;
  const write = (unit: Parameters<typeof server.context.db.write>[0]) => server.context.db.write(unit);
  /** Takes away what a person gave; what the provider grants stays, with the default role. */
  const dropName = ({ byName, byProvider }: Person, uid: string) => {
    if (byProvider.has(uid)) byName.set(uid, 'assessment_member');
    else byName.delete(uid);
  };
  const named = new Set<string>();
  const nameKey = ({ user }: Person, uid: string) => `${user.id} ${uid}`;

  const changes: Record<string, () => Promise<unknown>> = {
    async 'add to a group'() {
      const [person, group, role] = [pick(people), pick(groups), pick(GROUP_ROLES)];
      await call('POST', `${members(group)}/batchAdd`, { members: [{ userUid: person.user.uid, role }] });
      person.byGroup.set(group, role);
    },
    async 'remove from a group'() {
      const [person, group] = [pick(people), pick(groups)];
      await call('POST', `${members(group)}/batchRemove`, { userUids: [person.user.uid] });
      person.byGroup.delete(group);
    },
    async 'give a role by name'() {
      const [person, { uid }, role] = [pick(people), pick(assessments), pick(ACCESS_ROLES)];
      await call('PATCH', `/v1/assessments/${uid}/users`, { add: [{ id: person.user.id, role }] });
      person.byName.set(uid, role);
      named.add(nameKey(person, uid));
    },
    async 'give access by name'() {
      const [person, { uid }] = [pick(people), pick(assessments)];
      await call('PATCH', `/v1/assessments/${uid}/users`, { add: [person.user.id] });
      if (!person.byName.has(uid)) person.byName.set(uid, 'assessment_member');
      named.add(nameKey(person, uid));
    },
    async 'take access by name'() {
      const [person, { uid }] = [pick(people), pick(assessments)];
      await call('PATCH', `/v1/assessments/${uid}/users`, { remove: [person.user.id] });
      if (named.delete(nameKey(person, uid))) dropName(person, uid);
    },
    async 'replace access by name'() {
      const person = pick(people);
      const uids = assessments.map(({ uid }) => uid).filter(() => random.between(0, 1) === 1);
      await call('PUT', `/v1/users/${person.user.id}`, { assessments: uids });
      for (const { uid } of assessments) {
        if (uids.includes(uid)) {
          if (!person.byName.has(uid)) person.byName.set(uid, 'assessment_member');
          named.add(nameKey(person, uid));
        } else if (named.delete(nameKey(person, uid))) dropName(person, uid);
      }
    },
    async 'grant by the provider'() {
      const [person, { uid }] = [pick(people), pick(assessments)];
      await write((tx) =>
        grantAssessmentAccess(tx, cliChangeContext(Date.now()), uid, person.user.id, 'by_provider'),
      );
      person.byProvider.add(uid);
      if (!person.byName.has(uid)) person.byName.set(uid, 'assessment_member');
    },
    async 'revoke by the provider'() {
      const [person, assessment] = [pick(people), pick(assessments)];
      await write((tx) =>
        revokeAssessmentAccess(tx, cliChangeContext(Date.now()), assessment, person.user.id, 'by_provider'),
      );
      person.byProvider.delete(assessment.uid);
      if (!named.has(nameKey(person, assessment.uid))) person.byName.delete(assessment.uid);
    },
    async 'move an assessment'() {
      const assessment = pick(assessments);
      const group = pick([...groups, null]);
      await call('PATCH', `/v1/assessments/${assessment.uid}`, { assessment_group_id: group });
      assessment.group = group;
    },
    async 'publish a draft, and report another'() {
      const assessment = pick(assessments);
      const change = { ids: [assessment.draft], set: { draft: false } };
      await call('POST', '/v1/vulnerabilities/bulk_update', change, staff);
      assessment.published += 1;
      assessment.draft = (await fixtures.vulnerability(assessment.uid, { draft: true })).id;
    },
    async 'replace a group'() {
      const group = pick(groups);
      await call('DELETE', `/v1/assessment_groups/${group}`);
      groups.splice(groups.indexOf(group), 1);
      for (const assessment of assessments) if (assessment.group === group) assessment.group = null;
      for (const { byGroup } of people) byGroup.delete(group);
      await addGroup();
    },
    async 'make an admin, or no more'() {
      const person = pick(people);
      if (person.isBanned) return;
      person.isAdmin = !person.isAdmin;
      await call('PUT', `/v1/users/${person.user.id}`, { admin: person.isAdmin });
    },
    async 'ban, or reactivate'() {
      const person = pick(people);
      if (person.isBanned) {
        await call('PUT', `/v1/users/${person.user.id}`, { reactivate: true });
        person.user = { ...person.user, token: (await fixtures.token(person.user.id)).token };
      } else await call('DELETE', `/v1/users/${person.user.id}`);
      person.isBanned = !person.isBanned;
    },
  };

  const rolesIn = ({ byName, byGroup }: Person, { uid, group }: Assessment): Role[] =>
    [byName.get(uid), group === null ? undefined : byGroup.get(group)].filter((role) => role !== undefined);
  const expectReach = async (person: Person) => {
    const { token } = person.user;
    const get = async (path: string) => server.request('GET', path, { token });
    const listed = await get('/v1/assessments?page[size]=200');
    if (person.isBanned) return expect(listed.status).toBe(401);
    const has = (assessment: Assessment, roles?: readonly Role[]) =>
      person.isAdmin || rolesIn(person, assessment).some((role) => roles?.includes(role) ?? true);
    const uidsWith = (roles?: readonly Role[]) =>
      assessments.filter((assessment) => has(assessment, roles)).map(({ uid }) => uid);
    expect(listed.body.map(({ uid }: Assessment) => uid).sort()).toEqual(uidsWith().sort());
    const reported = (await get('/v1/vulnerabilities?page[size]=200')).body;
    expect(reported.map((row: { assessment_id: string }) => row.assessment_id).sort()).toEqual(
      assessments
        .filter((assessment) => has(assessment, SEES_ALL))
        .flatMap(({ uid, published }) => Array.from({ length: published }, () => uid))
        .sort(),
    );
    const { accessible_assessment_ids: accessible } = (await get('/v1/users/whoami')).body;
    expect(accessible).toEqual(person.isAdmin ? undefined : uidsWith().sort());
    for (const assessment of assessments) {
      const bulkUpdate = async (id: number) =>
        server.request('POST', '/v1/vulnerabilities/bulk_update', {
          token,
          body: { ids: [id], set: { severity: 'Low' }, dry_run: true },
        });
      expect((await bulkUpdate(assessment.draft)).status).toBe(422);
      const { status } = await bulkUpdate(assessment.vulnerability);
      const expected = has(assessment, TRIAGES) ? 200 : has(assessment, SEES_ALL) ? 403 : 422;
      expect([assessment.uid, rolesIn(person, assessment), status]).toEqual([
        assessment.uid,
        rolesIn(person, assessment),
        expected,
      ]);
    }
    return undefined;
  };

  for (let index = 0; index < 120; index += 1) {
    await changes[pick(Object.keys(changes))]?.();
    if (index % 10 === 9) for (const person of people) await expectReach(person);
  }
});
