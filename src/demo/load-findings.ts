import type { Transaction } from '../db/engine.ts';
import { attachFiles, type NewAttachment } from '../domain/vulnerabilities/attachments.ts';
import { createComment } from '../domain/vulnerabilities/comments.ts';
import { decideRetest, requestRetest } from '../domain/vulnerabilities/retests.ts';
import { createVulnerability } from '../domain/vulnerabilities/create-vulnerability.ts';
import { updateVulnerability } from '../domain/vulnerabilities/update-vulnerability.ts';
import type { SeededRandom } from './random.ts';
import { personAttribution, nextWorkingHour, type Schedule, type DemoUser } from './schedule.ts';
import { type StoredEvidence, evidenceKey } from './evidence/store-evidence.ts';
import { buildFinding } from './build-finding.ts';
import { FIRST_LIFECYCLES, LIFECYCLES, type LifecycleStep, type LifecycleActor } from './lifecycles.ts';
import { type DemoFinding, type TemplateValues, fillTemplate } from './affected-locations.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** While a finding is as young, in milliseconds, often nobody has looked at it. */
const RECENT = 12 * 24 * HOUR;

/** An assessment of which findings are told. */
export interface SeedFindingsOptions {
  tx: Transaction;
  schedule: Schedule;
  random: SeededRandom;
  assessment: string;
  findings: readonly DemoFinding[];
  evidence: StoredEvidence;
  /** When the first and the last are reported: milliseconds since 1970. */
  from: number;
  until: number;
  now: number;
  /** Ids of tags to choose from. */
  tagIds: readonly number[];
  /** Uids of assets by location. */
  assets: ReadonlyMap<string, string>;
  testers: readonly DemoUser[];
  admin: DemoUser;
  /** Who may be asked to fix something. */
  team: readonly DemoUser[];
  /** Whether these are the ones that the examples name. */
  useFirstLifecycles: boolean;
}

/**
 * Has testers report what they saw, and the people of the organization and them deal with it.
 * @returns the ids of the first ones, once they were reported
 */
export function seedFindings(findings: SeedFindingsOptions): { ids: number[] } {
  const {
    tx,
    schedule: chronicle,
    random: chance,
    findings: sightings,
    from,
    until,
    assets,
    tagIds,
    useFirstLifecycles,
  } = findings;
  const ids: number[] = [];
  for (const [index, sighting] of sightings.entries()) {
    const evenly =
      from + Math.floor(((until - from) * index) / sightings.length) + chance.between(0, 600) * MINUTE;
    // The first ones in their order, within a day; the examples know them by their ids.
    const first = useFirstLifecycles ? FIRST_LIFECYCLES[index] : undefined;
    const reportedAt =
      first === undefined
        ? Math.min(nextWorkingHour(evenly), Math.max(evenly, until))
        : from + (9 + index) * HOUR;
    const tester = chance.pick(findings.testers);
    const people: Record<LifecycleActor, DemoUser> = {
      tester: first === undefined ? tester : (findings.testers[0] as DemoUser),
      admin: findings.admin,
      assignee: chance.pick(findings.team),
    };
    const asset = assets.get(sighting.asset);
    const input = buildFinding(
      sighting,
      {
        assessment: findings.assessment,
        assetUids: asset === undefined ? [] : [asset],
        assigneeId: chance.happens(85) ? people.assignee.id : undefined,
        tagIds: tagIds.filter(() => chance.happens(20)),
        at: reportedAt,
      },
      chance,
    );
    let id = 0;
    chronicle.add(reportedAt, async (now) => {
      ({ id } = await createVulnerability(tx, personAttribution(people.tester, now), input));
      if (ids.length < FIRST_LIFECYCLES.length) ids.push(id);
    });
    const key = evidenceKey(findings.assessment, index);
    attach(findings, findings.evidence.reported.get(key), people.tester, reportedAt, () => id);
    const life = first ?? chance.pick(LIFECYCLES);
    const isNew = chance.happens(60) && findings.now - reportedAt < RECENT;
    const verifiedAt = scheduleLifecycle(
      findings,
      isNew ? [] : life,
      people,
      sighting.values,
      reportedAt,
      () => id,
    );
    if (verifiedAt !== undefined)
      attach(findings, findings.evidence.verified.get(key), people.tester, verifiedAt, () => id);
  }
  return { ids };
}

/** Has somebody attach files a minute after something. */
function attach(
  { tx, schedule: chronicle }: SeedFindingsOptions,
  files: readonly NewAttachment[] = [],
  person: DemoUser,
  at: number,
  idOf: () => number,
): void {
  if (files.length === 0) return;
  chronicle.add(at + MINUTE, (now) =>
    attachFiles(tx, personAttribution(person, now), idOf(), files, files.length + 1),
  );
}

/**
 * Writes into the chronicle what happens to a finding.
 * @returns when its fix was verified
 */
function scheduleLifecycle(
  { tx, schedule: chronicle, random: chance }: SeedFindingsOptions,
  life: readonly LifecycleStep[],
  people: Readonly<Record<LifecycleActor, DemoUser>>,
  spot: TemplateValues,
  reportedAt: number,
  idOf: () => number,
): number | undefined {
  let at = reportedAt;
  let verifiedAt: number | undefined;
  let retest = 0;
  for (const step of life) {
    at = nextWorkingHour(at + Math.floor(step.after * HOUR * (chance.between(60, 140) / 100)) + MINUTE);
    if (step.does === 'decide' && step.decision === 'verified') verifiedAt = at;
    chronicle.add(at, async (now) => {
      const act = personAttribution(people[step.by], now);
      const vulnerabilityId = idOf();
      switch (step.does) {
        case 'status':
          return updateVulnerability(tx, act, vulnerabilityId, { statusId: step.status });
        case 'comment': {
          const { text, internal = false } = step;
          return createComment(tx, act, vulnerabilityId, { text: fillTemplate(text, spot), internal });
        }
        case 'ask':
          ({ id: retest } = await requestRetest(tx, act, vulnerabilityId, fillTemplate(step.text, spot)));
          return retest;
        case 'decide': {
          const decision = { status: step.decision, message: fillTemplate(step.text, spot) };
          return decideRetest(tx, act, { vulnerabilityId, id: retest }, decision);
        }
      }
    });
  }
  return verifiedAt;
}
