import type { Transaction } from '../db/database.ts';
import { attachFiles, type NewAttachment } from '../domain/vulnerabilities/attachments.ts';
import { createComment } from '../domain/vulnerabilities/comments.ts';
import { decideRetest, requestRetest, type RetestDecision } from '../domain/vulnerabilities/retests.ts';
import { createVulnerability } from '../domain/vulnerabilities/create-vulnerability.ts';
import { updateVulnerability } from '../domain/vulnerabilities/update-vulnerability.ts';
import type { SeededRandom } from './random.ts';
import { personChangeContext, nextWorkingHour, type Schedule, type DemoUser } from './schedule.ts';
import { type StoredEvidence, evidenceKey } from './evidence/store-evidence.ts';
import { buildFinding } from './build-finding.ts';
import { lazyDemoData } from './data.ts';
import { type DemoFinding, type TemplateValues, fillTemplate } from './affected-locations.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Of the latest findings, those that are still untriaged are drafts. */
const MOST_DRAFTS = 8;
/** Many findings younger than this are still untriaged. In milliseconds. */
const RECENT = 12 * 24 * HOUR;

type LifecycleActor = 'tester' | 'admin' | 'assignee';

/** A step in the life of a finding; `after` is in hours since the previous step. */
type LifecycleStep = { by: LifecycleActor; after: number } & (
  | { does: 'status'; status: number }
  | { does: 'comment'; text: string; internal?: boolean }
  | { does: 'ask'; text: string }
  | { does: 'decide'; decision: RetestDecision; text: string }
);

/**
 * The lifecycles of findings; steps after the current time have not happened yet. `first` has those of the first
 * findings, because the examples of the API description refer to them: the first has comments and is open, a retest of
 * the third can be requested, and the retest of the fourth has been pending for long.
 */
const lifecycles = lazyDemoData('lifecycles.json') as () => Readonly<
  Record<'first' | 'others', readonly (readonly LifecycleStep[])[]>
>;

export interface SeedFindingsOptions {
  tx: Transaction;
  schedule: Schedule;
  random: SeededRandom;
  assessment: string;
  findings: readonly DemoFinding[];
  evidence: StoredEvidence;
  /** Times of the first and the last finding, in milliseconds since 1970. */
  from: number;
  until: number;
  now: number;
  /** Ids of tags to pick from. */
  tagIds: readonly number[];
  /** Uids of assets by location. */
  assets: ReadonlyMap<string, string>;
  testers: readonly DemoUser[];
  admin: DemoUser;
  team: readonly DemoUser[];
  /** Whether the first findings get the lifecycles that the examples of the API description rely on. */
  useFirstLifecycles: boolean;
  /** Whether some of the latest findings are drafts. */
  hasDrafts: boolean;
}

/**
 * Schedules findings and their lifecycles.
 * @returns the ids of the first findings; empty until the schedule has run
 */
export function seedFindings(options: SeedFindingsOptions): { ids: number[] } {
  const { tx, schedule, random, findings, from, until, assets, tagIds, useFirstLifecycles } = options;
  const ids: number[] = [];
  for (const [index, finding] of findings.entries()) {
    const evenly =
      from + Math.floor(((until - from) * index) / findings.length) + random.between(0, 600) * MINUTE;
    // The first findings are reported in order within a day, because the examples refer to their ids.
    const first = useFirstLifecycles ? lifecycles().first[index] : undefined;
    const reportedAt =
      first === undefined
        ? Math.min(nextWorkingHour(evenly), Math.max(evenly, until))
        : from + (9 + index) * HOUR;
    const tester = random.pick(options.testers);
    const people: Record<LifecycleActor, DemoUser> = {
      tester: first === undefined ? tester : (options.testers[0] as DemoUser),
      admin: options.admin,
      assignee: random.pick(options.team),
    };
    const asset = assets.get(finding.asset);
    const input = buildFinding(
      finding,
      {
        assessment: options.assessment,
        assetUids: asset === undefined ? [] : [asset],
        assigneeId: random.happens(85) ? people.assignee.id : undefined,
        tagIds: tagIds.filter(() => random.happens(20)),
        at: reportedAt,
      },
      random,
    );
    const life = first ?? random.pick(lifecycles().others);
    const isNew = random.happens(60) && options.now - reportedAt < RECENT;
    const isDraft = isNew && options.hasDrafts && index >= findings.length - MOST_DRAFTS;
    let id = 0;
    schedule.add(reportedAt, async (now) => {
      const by = personChangeContext(people.tester, now);
      ({ id } = await createVulnerability(tx, by, { ...input, ...(isDraft ? { draft: true } : {}) }));
      if (ids.length < lifecycles().first.length) ids.push(id);
    });
    const key = evidenceKey(options.assessment, index);
    attach(options, options.evidence.reported.get(key), people.tester, reportedAt, () => id);
    const verifiedAt = scheduleLifecycle(
      options,
      isNew ? [] : life,
      people,
      finding.values,
      reportedAt,
      () => id,
    );
    if (verifiedAt !== undefined)
      attach(options, options.evidence.verified.get(key), people.tester, verifiedAt, () => id);
  }
  return { ids };
}

/** Schedules attachments one minute after `at`. */
function attach(
  { tx, schedule }: SeedFindingsOptions,
  files: readonly NewAttachment[] = [],
  person: DemoUser,
  at: number,
  idOf: () => number,
): void {
  if (files.length === 0) return;
  schedule.add(at + MINUTE, (now) =>
    attachFiles(tx, personChangeContext(person, now), idOf(), files, files.length + 1),
  );
}

/**
 * Schedules the lifecycle of a finding.
 * @returns when the fix is verified; `undefined` if it is not
 */
function scheduleLifecycle(
  { tx, schedule, random }: SeedFindingsOptions,
  life: readonly LifecycleStep[],
  people: Readonly<Record<LifecycleActor, DemoUser>>,
  values: TemplateValues,
  reportedAt: number,
  idOf: () => number,
): number | undefined {
  let at = reportedAt;
  let verifiedAt: number | undefined;
  let retest = 0;
  for (const step of life) {
    at = nextWorkingHour(at + Math.floor(step.after * HOUR * (random.between(60, 140) / 100)) + MINUTE);
    if (step.does === 'decide' && step.decision === 'verified') verifiedAt = at;
    schedule.add(at, async (now) => {
      const by = personChangeContext(people[step.by], now);
      const vulnerabilityId = idOf();
      switch (step.does) {
        case 'status':
          return updateVulnerability(tx, by, vulnerabilityId, { statusId: step.status });
        case 'comment': {
          const { text, internal = false } = step;
          return createComment(tx, by, vulnerabilityId, {
            text: fillTemplate(text, values),
            internal: internal && by.actor.staff,
          });
        }
        case 'ask':
          ({ id: retest } = await requestRetest(tx, by, vulnerabilityId, fillTemplate(step.text, values)));
          return retest;
        case 'decide': {
          const decision = { status: step.decision, message: fillTemplate(step.text, values) };
          return decideRetest(tx, by, { vulnerabilityId, id: retest }, decision);
        }
      }
    });
  }
  return verifiedAt;
}
