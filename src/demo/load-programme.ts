import type { Act, Actor, Caller } from '../auth/callers.ts';
import { scopesOf, TAG_SCOPES } from '../auth/scopes.ts';
import type { Transaction } from '../db/engine.ts';
import { createAssessmentTag } from '../domain/assessments/assessment-tags.ts';
import { createAssessment, grantAssessmentAccess } from '../domain/assessments/assessments.ts';
import { createAssetTags } from '../domain/assets/asset-tags.ts';
import { createAsset, type NewAsset } from '../domain/assets/assets.ts';
import {
  addGroupMember,
  createAssessmentGroup,
  GROUP_ROLES,
  type GroupRole,
} from '../domain/assessments/groups.ts';
import { changeListingAssets, planListingChange } from '../domain/assessments/listings.ts';
import { createOrganization } from '../domain/organizations/organizations.ts';
import { putPorts } from '../domain/assets/ports.ts';
import { logTestingSession } from '../domain/assessments/testing-sessions.ts';
import { createUser, type CreatedUser } from '../domain/people/users.ts';
import { createVulnerability } from '../domain/vulnerabilities/vulnerabilities.ts';
import { createVulnerabilityTag } from '../domain/vulnerabilities/vulnerability-tags.ts';
import { type Chance, chanceOf } from './chance.ts';
import { estateOf } from './estate.ts';
import { findingsOf } from './findings.ts';
import type { DemoSecrets } from './secrets.ts';
import type { DemoOrganization } from './manifest.ts';
import { peopleAt } from './people.ts';
import {
  ACCOUNTS,
  ASSESSMENT_TAGS,
  ASSET_TAGS,
  EDITABLE_TAGS,
  FIXED_TAGS,
  type Programme,
} from './programmes.ts';
import { fewPorts, manyPorts } from './services.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Loading {
  tx: Transaction;
  act: Act;
  secrets: DemoSecrets;
  /** Platform staff; the first of them also does what needs a signed-in user. */
  testers: readonly CreatedUser[];
  /** When the programme began: milliseconds since 1970. */
  start: number;
}

/** Makes one organization with everything in it. */
export async function loadProgramme(
  loading: Loading,
  programme: Programme,
): Promise<DemoOrganization<CreatedUser>> {
  const { tx, act, start } = loading;
  const chance = chanceOf(programme.seed);
  const organization = await createOrganization(tx, { ...act, now: start }, programme.organization);
  const { uid } = organization;
  const group = await createAssessmentGroup(
    tx,
    { ...act, now: start },
    { organization: uid, name: programme.group },
  );
  const { assessment } = programme;
  await createAssessment(tx, { ...act, now: start }, { ...assessment, organization: uid, groupId: group.id });
  for (const further of programme.further) {
    await createAssessment(tx, { ...act, now: start }, { ...further, organization: uid });
  }
  const users = await loadUsers(loading, programme, group.id, chance);
  const assets = await loadAssets(loading, programme, chance);
  return {
    organization: { uid, id: organization.id },
    users,
    assessment: { uid: assessment.uid },
    group,
    ...(await loadFindings(loading, programme, chance)),
    ...assets,
  };
}

async function loadUsers(
  { tx, act, secrets, start }: Loading,
  { organization: { uid: organization }, domain, assessment, colleagues }: Programme,
  groupId: number,
  chance: Chance,
): Promise<DemoOrganization<CreatedUser>['users']> {
  const account = (role: keyof typeof ACCOUNTS) => {
    const email = `${role}@${domain}`;
    const passwordHash = role === 'invited' ? undefined : secrets.of(email).hash;
    return createUser(
      tx,
      { ...act, now: start },
      { email, name: ACCOUNTS[role].name, organization, admin: role === 'admin', passwordHash },
    );
  };
  const join = (userUid: string, role: GroupRole, at: number) =>
    addGroupMember(tx, { ...act, now: at }, { groupId, userUid, role });

  const users = {
    admin: await account('admin'),
    member: await account('member'),
    outsider: await account('outsider'),
    invited: await account('invited'),
    spare: await account('spare'),
  };
  await join(users.admin.uid, 'rbac_group_admin', start);
  await join(users.member.uid, 'assessment_member', start + DAY);
  await join(users.spare.uid, 'assessment_member', start + DAY);
  for (const { id } of [users.member, users.spare]) {
    await grantAssessmentAccess(tx, { ...act, now: start + DAY }, assessment.uid, id);
  }
  for (const [index, person] of peopleAt(domain, colleagues).entries()) {
    const at = start + chance.between(1, 150) * DAY + chance.between(0, 23) * HOUR;
    const colleague = await createUser(
      tx,
      { ...act, now: at },
      { ...person, organization, passwordHash: secrets.unknown },
    );
    await join(colleague.uid, GROUP_ROLES[index % GROUP_ROLES.length] as GroupRole, at);
  }
  return users;
}

async function loadAssets(
  { tx, act, testers, start }: Loading,
  {
    organization: { uid: organization },
    domain,
    network,
    products,
    assets,
    listed,
    assessment,
    manyPorts: many,
    uids,
  }: Programme,
  chance: Chance,
): Promise<Pick<DemoOrganization<CreatedUser>, 'assets' | 'assetTag'>> {
  const named: readonly NewAsset[] = [
    {
      organization,
      type: 'host',
      name: `ams-gateway-01.${domain}`,
      location: `10.${network}.0.10`,
      criticality: 'high',
    },
    {
      organization,
      type: 'webapp',
      name: `https://www.${domain}`,
      location: `https://www.${domain}`,
      criticality: 'high',
    },
    {
      organization,
      type: 'webapp',
      name: `https://forms.${domain}`,
      location: `https://forms.${domain}`,
      criticality: 'medium',
      writableBy: 'client',
    },
    {
      organization,
      type: 'webapp',
      name: `https://scan-target.${domain}`,
      location: `https://scan-target.${domain}`,
      criticality: 'low',
      writableBy: 'boss',
    },
  ];
  const estate = estateOf({ organization, domain, network, products }, assets - named.length, chance);
  const created: { id: number; uid: string }[] = [];
  const planned = [...named, ...estate];
  for (const [index, asset] of planned.entries()) {
    const uid = index === planned.length - 1 ? uids?.unlisted : uids?.assets[index];
    created.push(await createAsset(tx, { ...act, now: start }, asset, uid));
  }
  const [host, webapp, clientOnly, bossOnly] = created as [Created, Created, Created, Created];

  await putPorts(tx, host.id, many ? manyPorts(act.now, chance) : fewPorts(act.now, chance));
  const scanned = created.slice(named.length).filter((_asset, index) => estate[index]?.type === 'host');
  for (const { id } of scanned.slice(0, 24)) await putPorts(tx, id, fewPorts(act.now, chance));

  const caller = signedIn(testers[0] as CreatedUser, act.actor);
  await changeListingAssets(
    tx,
    { actor: caller, now: start },
    assessment.uid,
    planListingChange({
      add: created.slice(0, listed).map(({ uid }, index) => ({
        assetUid: uid,
        scopeRules: index % 20 === 0 ? [{ rule: 'No tests from 08:00 to 18:00 UTC' }] : [],
      })),
    }),
  );
  const tags = await createAssetTags(
    tx,
    { actor: caller, accepted: TAG_SCOPES, now: start },
    organization,
    ASSET_TAGS.map((name, index) => ({
      name,
      assets: created.filter((_asset, place) => place % (index + 3) === 0).map(({ uid }) => uid),
    })),
    uids?.tags,
  );
  return {
    assetTag: { uid: tags[0]?.uid ?? '' },
    assets: { host: host.uid, webapp: webapp.uid, clientOnly: clientOnly.uid, bossOnly: bossOnly.uid },
  };
}

type Created = Awaited<ReturnType<typeof createAsset>>;

async function loadFindings(
  { tx, act, testers, start }: Loading,
  { organization: { uid: organization }, assessment, vulnerabilities, places }: Programme,
  chance: Chance,
): Promise<Pick<DemoOrganization<CreatedUser>, 'vulnerability' | 'vulnerabilityTags' | 'assessmentTag'>> {
  const tag = async (name: string, editable: boolean) =>
    (await createVulnerabilityTag(tx, { ...act, now: start }, { organization, name, editable })).id;
  const editable: number[] = [];
  for (const name of EDITABLE_TAGS) editable.push(await tag(name, true));
  const fixed: number[] = [];
  for (const name of FIXED_TAGS) fixed.push(await tag(name, false));

  const assessmentTags: { id: number }[] = [];
  for (const name of ASSESSMENT_TAGS) {
    assessmentTags.push(
      await createAssessmentTag(tx, { ...act, now: start }, { name, assessment: assessment.uid }),
    );
  }

  const ids: number[] = [];
  const findings = findingsOf(assessment.uid, vulnerabilities, places, [...editable, ...fixed], chance);
  for (const [index, finding] of findings.entries()) {
    const at =
      start + Math.floor(((act.now - start) * index) / findings.length) + chance.between(0, 600) * 60_000;
    ids.push((await createVulnerability(tx, { ...act, now: Math.min(at, act.now) }, finding)).id);
  }

  for (let day = 4; day < 170; day += 7) {
    for (const { id: testerId } of testers) {
      const startedAt = start + day * DAY + chance.between(7, 10) * HOUR;
      const endedAt = startedAt + chance.between(6, 30) * (HOUR / 4);
      await logTestingSession(
        tx,
        { ...act, now: endedAt },
        { assessment: assessment.uid, testerId, startedAt, endedAt },
      );
    }
  }
  return {
    vulnerability: { id: ids[0] ?? 0 },
    vulnerabilityTags: { editable: editable[0] ?? 0, fixed: fixed[0] ?? 0 },
    assessmentTag: { id: assessmentTags[0]?.id ?? 0 },
  };
}

/** What many assets are changed by at once is written for a caller: a staff user, who may change them all. */
function signedIn(user: CreatedUser, actor: Actor): Caller {
  const account = { staff: true, admin: true, assigned: null };
  return {
    ...actor,
    kind: 'user',
    ...account,
    userId: user.id,
    uid: user.uid,
    credentialId: 'demo',
    organizationId: null,
    scopes: new Set(scopesOf(account)),
    bounds: { allowedAddresses: null, expiresAt: null },
  };
}
