import type { Transaction } from '../db/engine.ts';
import { attachFiles, type NewAttachment } from '../domain/vulnerabilities/attachments.ts';
import { createComment } from '../domain/vulnerabilities/comments.ts';
import { decideRetest, requestRetest } from '../domain/vulnerabilities/retests.ts';
import { reportVulnerability } from '../domain/vulnerabilities/create-vulnerability.ts';
import { updateVulnerability } from '../domain/vulnerabilities/update-vulnerability.ts';
import type { Chance } from './chance.ts';
import { actOf, atWork, type Chronicle, type Person } from './chronicle.ts';
import { type Evidence, evidenceKey } from './evidence/stored.ts';
import { findingOf } from './findings.ts';
import { FIRST_LIVES, LIVES, type Step, type Who } from './lives.ts';
import { type Sighting, type Spot, told } from './spots.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** While a finding is as young, in milliseconds, often nobody has looked at it. */
const NEW = 12 * 24 * HOUR;

/** An assessment of which findings are told. */
export interface Findings {
  tx: Transaction;
  chronicle: Chronicle;
  chance: Chance;
  assessment: string;
  sightings: readonly Sighting[];
  evidence: Evidence;
  /** When the first and the last are reported: milliseconds since 1970. */
  from: number;
  until: number;
  now: number;
  /** Ids of tags to choose from. */
  tagIds: readonly number[];
  /** Uids of assets by location. */
  assets: ReadonlyMap<string, string>;
  testers: readonly Person[];
  admin: Person;
  /** Who may be asked to fix something. */
  team: readonly Person[];
  /** Whether these are the ones that the examples name. */
  named: boolean;
}

/**
 * Has testers report what they saw, and the people of the organization and them deal with it.
 * @returns the ids of the first ones, once they were reported
 */
export function tellFindings(findings: Findings): { ids: number[] } {
  const { tx, chronicle, chance, sightings, from, until, assets, tagIds, named } = findings;
  const ids: number[] = [];
  for (const [index, sighting] of sightings.entries()) {
    const evenly =
      from + Math.floor(((until - from) * index) / sightings.length) + chance.between(0, 600) * MINUTE;
    // The first ones in their order, within a day; the examples know them by their ids.
    const first = named ? FIRST_LIVES[index] : undefined;
    const reportedAt =
      first === undefined ? Math.min(atWork(evenly), Math.max(evenly, until)) : from + (9 + index) * HOUR;
    const tester = chance.pick(findings.testers);
    const people: Record<Who, Person> = {
      tester: first === undefined ? tester : (findings.testers[0] as Person),
      admin: findings.admin,
      assignee: chance.pick(findings.team),
    };
    const asset = assets.get(sighting.asset);
    const input = findingOf(
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
      ({ id } = await reportVulnerability(tx, actOf(people.tester, now), input));
      if (ids.length < FIRST_LIVES.length) ids.push(id);
    });
    const key = evidenceKey(findings.assessment, index);
    attach(findings, findings.evidence.reported.get(key), people.tester, reportedAt, () => id);
    const life = first ?? chance.pick(LIVES);
    const isNew = chance.happens(60) && findings.now - reportedAt < NEW;
    const verifiedAt = live(findings, isNew ? [] : life, people, sighting.spot, reportedAt, () => id);
    if (verifiedAt !== undefined)
      attach(findings, findings.evidence.verified.get(key), people.tester, verifiedAt, () => id);
  }
  return { ids };
}

/** Has somebody attach files a minute after something. */
function attach(
  { tx, chronicle }: Findings,
  files: readonly NewAttachment[] = [],
  person: Person,
  at: number,
  idOf: () => number,
): void {
  if (files.length === 0) return;
  chronicle.add(at + MINUTE, (now) => attachFiles(tx, actOf(person, now), idOf(), files, files.length + 1));
}

/**
 * Writes into the chronicle what happens to a finding.
 * @returns when its fix was verified
 */
function live(
  { tx, chronicle, chance }: Findings,
  life: readonly Step[],
  people: Readonly<Record<Who, Person>>,
  spot: Spot,
  reportedAt: number,
  idOf: () => number,
): number | undefined {
  let at = reportedAt;
  let verifiedAt: number | undefined;
  let retest = 0;
  for (const step of life) {
    at = atWork(at + Math.floor(step.after * HOUR * (chance.between(60, 140) / 100)) + MINUTE);
    if (step.does === 'decide' && step.decision === 'verified') verifiedAt = at;
    chronicle.add(at, async (now) => {
      const act = actOf(people[step.by], now);
      const vulnerabilityId = idOf();
      switch (step.does) {
        case 'status':
          return updateVulnerability(tx, act, vulnerabilityId, { statusId: step.status });
        case 'comment': {
          const { text, internal = false } = step;
          return createComment(tx, act, vulnerabilityId, { text: told(text, spot), internal });
        }
        case 'ask':
          ({ id: retest } = await requestRetest(tx, act, vulnerabilityId, told(step.text, spot)));
          return retest;
        case 'decide': {
          const decision = { status: step.decision, message: told(step.text, spot) };
          return decideRetest(tx, act, { vulnerabilityId, id: retest }, decision);
        }
      }
    });
  }
  return verifiedAt;
}
