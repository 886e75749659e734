import type { ChangeContext, Caller } from '../auth/callers.ts';
import type { Transaction } from '../db/database.ts';
import { createAssessmentTag } from '../domain/assessments/assessment-tags.ts';
import { addGroupMembers } from '../domain/assessments/add-group-members.ts';
import { grantAssessmentAccess } from '../domain/assessments/assessment-access.ts';
import { createAssessment } from '../domain/assessments/create-assessment.ts';
import { GROUP_ROLES, type GroupRole } from '../auth/roles.ts';
import { createGroup } from '../domain/assessments/update-group.ts';
import { createTestingSession } from '../domain/assessments/update-testing-session.ts';
import { banUser } from '../domain/users/ban-user.ts';
import { createUser, type CreatedUser } from '../domain/users/users.ts';
import { createOrganization } from '../domain/users/staff-organizations.ts';
import { createVulnerabilityTag } from '../domain/vulnerabilities/vulnerability-tags.ts';
import { type SeededRandom, seededRandom } from './random.ts';
import { personChangeContext, nextWorkingHour, type Schedule, type DemoUser } from './schedule.ts';
import { createAssetInputs, loadAssets, scannedHosts } from './load-assets.ts';
import { seedFindings } from './load-findings.ts';
import type { DemoOrganization } from './manifest.ts';
import { createPeople } from './people.ts';
import { labels } from './labels.ts';
import { type DemoOrganizationSpec, type DemoRole, organizationData } from './organizations.ts';
import type { StoredEvidence } from './evidence/store-evidence.ts';
import type { DemoSecrets } from './secrets.ts';
import { createDemoFindings } from './demo-findings.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Index of the colleague who leaves and is banned. */
const LEFT = 1;

export interface LoadOptions {
  tx: Transaction;
  by: ChangeContext<Caller>;
  schedule: Schedule;
  secrets: DemoSecrets;
  evidence: StoredEvidence;
  /** Platform staff. */
  testers: readonly DemoUser[];
  /** Start of the first organization, a Monday, in milliseconds since 1970. */
  start: number;
}

/**
 * Creates an organization and schedules its later changes.
 * @returns a function that returns its manifest, to be called after the schedule has run
 */
export async function loadOrganization(
  { start: first, ...restOptions }: LoadOptions,
  spec: DemoOrganizationSpec,
): Promise<() => DemoOrganization<CreatedUser>> {
  const start = first + spec.later * DAY;
  const options = { ...restOptions, start };
  const { tx, by } = options;
  const random = seededRandom(spec.seed);
  const byAtStart = { ...by, now: start };
  const { id, uid } = await createOrganization(tx, byAtStart, spec.organization);
  const group = await createGroup(tx, byAtStart, { organization: uid, name: spec.group });
  const { assessment, furtherAssessments } = spec;
  await createAssessment(tx, byAtStart, { ...assessment, organization: uid, groupId: group.id });
  const groups = [group];
  for (const name of spec.furtherGroups)
    groups.push(await createGroup(tx, byAtStart, { organization: uid, name }));
  for (const [
    index,
    { about: _about, findings: _findings, applications: _applications, ...fields },
  ] of furtherAssessments.entries()) {
    const groupId = groups[1 + (index % spec.furtherGroups.length)]?.id;
    await createAssessment(tx, byAtStart, { ...fields, organization: uid, groupId });
  }

  const groupIds = groups.map(({ id: groupId }) => groupId);
  const users = await loadUsers(options, spec, { organizationId: id, groupIds }, random);
  const tags = await loadTags(options, spec);
  const assets = createAssetInputs(spec, random);
  const findingsByAssessment = createDemoFindings(spec, scannedHosts(assets));
  const loaded = await loadAssets(
    { ...options, random },
    options.testers[0] as DemoUser,
    id,
    spec,
    assets,
    findingsByAssessment.flatMap(({ findings }) => findings),
    { start, now: by.now },
  );

  const { admin, member, spare } = users;
  const testers = spec.selfTested ? [member, spare] : options.testers;
  const seeded = findingsByAssessment.map(({ assessment: assessmentOfFindings, findings }, index) => {
    const from = start + index * 40 * DAY;
    const isMain = index === 0;
    if (findings.length > 0)
      seedSessions({ ...options, testers }, assessmentOfFindings, isMain, from, random);
    return seedFindings({
      ...options,
      testers,
      random,
      assessment: assessmentOfFindings,
      findings,
      from,
      until: isMain ? by.now - 11 * HOUR : from + 50 * DAY,
      now: by.now,
      tagIds: [...tags.editable, ...tags.fixed],
      assets: loaded.uids,
      admin,
      // Only the admin has access to further assessments. Testers are not assigned what they reported.
      hasDrafts: isMain && !spec.selfTested,
      team: isMain && !spec.selfTested ? [member, spare, admin] : [admin],
      useFirstLifecycles: isMain,
    });
  });
  return () => ({
    organization: { uid, id },
    users: {
      admin: toCreatedUser(admin),
      member: toCreatedUser(member),
      outsider: toCreatedUser(users.outsider),
      invited: toCreatedUser(users.invited),
      spare: toCreatedUser(spare),
    },
    assessment: { uid: assessment.uid },
    group: { id: group.id },
    vulnerability: { id: seeded[0]?.ids[0] ?? 0 },
    vulnerabilityTags: { editable: tags.editable[0] ?? 0, fixed: tags.fixed[0] ?? 0 },
    assessmentTag: { id: tags.assessment[0] ?? 0 },
    assets: loaded.assets,
    assetTag: loaded.assetTag,
  });
}

function toCreatedUser({ organizationId: _organization, admin: _admin, ...user }: DemoUser): CreatedUser {
  return user;
}

async function loadUsers(
  { tx, by, schedule, secrets, start }: LoadOptions,
  { organization: { uid: organization }, domain, assessment, colleagues, selfTested }: DemoOrganizationSpec,
  {
    organizationId,
    groupIds: [groupId = 0, ...furtherGroupIds],
  }: { organizationId: number; groupIds: readonly number[] },
  random: SeededRandom,
): Promise<Record<DemoRole, DemoUser>> {
  const createAccount = async (role: DemoRole): Promise<DemoUser> => {
    const email = `${role}@${domain}`;
    const passwordHash = role === 'invited' ? undefined : secrets.of(email).hash;
    const admin = role === 'admin';
    const user = await createUser(
      tx,
      { ...by, now: start },
      { email, name: organizationData().accounts[role].name, organization, admin, passwordHash },
    );
    return { ...user, organizationId, admin };
  };
  const join = (userUid: string, role: GroupRole, at: number, group = groupId) =>
    addGroupMembers(tx, { ...by, now: at }, group, [{ userUid, role }]);

  const users = {
    admin: await createAccount('admin'),
    member: await createAccount('member'),
    outsider: await createAccount('outsider'),
    invited: await createAccount('invited'),
    spare: await createAccount('spare'),
  };
  await join(users.admin.uid, 'rbac_group_admin', start);
  await join(users.member.uid, 'assessment_member', start);
  await join(users.spare.uid, 'assessment_member', start);
  for (const further of furtherGroupIds) {
    await join(users.admin.uid, 'rbac_group_admin', start, further);
    if (selfTested)
      for (const { uid } of [users.member, users.spare]) await join(uid, 'assessment_member', start, further);
  }
  for (const { id } of [users.member, users.spare])
    await grantAssessmentAccess(tx, { ...by, now: start }, assessment.uid, id);
  const colleagueIds = new Map<number, number>();
  for (const [index, person] of createPeople(domain, colleagues).entries()) {
    const at = nextWorkingHour(start + random.between(1, 150) * DAY + random.between(0, 23 * 60) * 60_000);
    schedule.add(at, async (now) => {
      const colleague = await createUser(
        tx,
        { ...by, now },
        { ...person, organization, passwordHash: secrets.unknown },
      );
      const role = GROUP_ROLES[index % GROUP_ROLES.length] as GroupRole;
      await join(colleague.uid, role, now);
      const further = furtherGroupIds[index % (2 * furtherGroupIds.length)];
      if (further !== undefined) await join(colleague.uid, role, now, further);
      colleagueIds.set(index, colleague.id);
    });
    if (index === LEFT) {
      schedule.add(nextWorkingHour(at + 12 * DAY), (now) =>
        banUser(tx, personChangeContext(users.admin, now), colleagueIds.get(index) ?? 0),
      );
    }
  }
  return users;
}

async function loadTags(
  { tx, by, start }: LoadOptions,
  { organization: { uid: organization }, assessment }: DemoOrganizationSpec,
): Promise<Record<'editable' | 'fixed' | 'assessment', number[]>> {
  const byAtStart = { ...by, now: start };
  const tags: Record<'editable' | 'fixed' | 'assessment', number[]> = {
    editable: [],
    fixed: [],
    assessment: [],
  };
  for (const name of labels().editableTags)
    tags.editable.push(
      (await createVulnerabilityTag(tx, byAtStart, { organization: { uid: organization }, name })).id,
    );
  for (const name of labels().fixedTags)
    tags.fixed.push(
      (
        await createVulnerabilityTag(tx, byAtStart, {
          organization: { uid: organization },
          name,
          editable: false,
        })
      ).id,
    );
  for (const name of labels().assessmentTags)
    tags.assessment.push((await createAssessmentTag(tx, byAtStart, { name, assessment: assessment.uid })).id);
  return tags;
}

/** Schedules weekly testing sessions. The last session on the main assessment is still running. */
function seedSessions(
  { tx, by, schedule, testers, start }: LoadOptions,
  assessment: string,
  isMain: boolean,
  from: number,
  random: SeededRandom,
): void {
  const log = (tester: DemoUser, startedAt: number, endedAt: number | null) => {
    schedule.add(endedAt ?? startedAt, (now) =>
      createTestingSession(tx, personChangeContext(tester, now), assessment, {
        ...(endedAt === null ? {} : { startedAt, endedAt }),
        note: random.pick(labels().sessionNotes),
      }),
    );
  };
  const weeks = isMain ? Math.ceil((by.now - start) / (7 * DAY)) : 7;
  for (let week = 0; week < weeks; week += 1) {
    for (const tester of testers) {
      const day = from + (7 * week + random.between(0, 4)) * DAY;
      const startedAt = day + random.between(7, 10) * HOUR;
      log(tester, startedAt, startedAt + random.between(6, 30) * (HOUR / 4));
    }
  }
  if (isMain) log(testers.at(-1) as DemoUser, by.now - 100 * 60_000, null);
}
