import { closedAt, isClosed, STATUS } from '../shared/statuses-and-severities.ts';
import type { Retest } from '../vulnerabilities/retests.ts';

/** A detection of a finding by a report. Times are in milliseconds since 1970. */
export interface StoredDetection {
  importId: number;
  firstSeenAt: number;
  seenAt: number;
  /** The number of its content. */
  content: number;
  /** Whether it creates the vulnerability, unlike one below the minimum severity. */
  createsVulnerability: boolean;
  /** Whether the time is reliable. Detections with unreliable times count only if the finding has no other. */
  isTimed: boolean;
  /** A decision on the same finding in another assessment. */
  carriedStatusId: number | null;
}

/** A complete report that covered a finding without containing it. */
export interface CoveringScope {
  importId: number;
  coveredAt: number;
  isFixing: boolean;
}

/** A change of the status by a person, who either set it or handled a retest. */
export type StatusDecision = { at: number } & ({ statusId: number } | { retest: Retest['status'] });

/** Everything that determines a finding. The order of the lists does not matter. */
export interface FindingFacts {
  detections: readonly StoredDetection[];
  scopes: readonly CoveringScope[];
  decisions: readonly StatusDecision[];
  /** When a person first changed the vulnerability; `null` for never. */
  firstEditedAt: number | null;
  /** The import that published the draft, unless it was undone. It counts as the import that created the finding. */
  publishedBy?: number | undefined;
}

export interface DerivedFinding {
  /** The import that published it, or the earliest remaining one that created it; `null` if there is none. */
  importId: number | null;
  firstSeenAt: number | null;
  goneAt: number | null;
  goneImportId: number | null;
  statusId: number;
  /** When a person set the status; `null` if an import did. */
  decidedAt: number | null;
  closedAt: number | null;
  /** The status when the last retest was requested. */
  statusBeforeRetest: number | null;
}

interface Moment {
  at: number;
  importId: number;
}

/** Orders by time; of two reports with the same time, the later upload comes last. */
const inOrderOfTime = (one: Moment, other: Moment): number =>
  one.at - other.at || one.importId - other.importId;

const momentOf = ({ seenAt, importId }: StoredDetection): Moment => ({ at: seenAt, importId });

const inOrderOfDetection = (one: StoredDetection, other: StoredDetection): number =>
  inOrderOfTime(momentOf(one), momentOf(other));

/** @returns the detections that count, in order: those with a known time, or all if none has one */
export function countedDetections(detections: readonly StoredDetection[]): StoredDetection[] {
  // Most findings are derived when they are created, so that this must be cheap.
  if (detections.length <= 1) return [...detections];
  const timed = detections.filter(({ isTimed }) => isTimed);
  return (timed.length > 0 ? timed : [...detections]).sort(inOrderOfDetection);
}

/** @returns the earliest detection that created the finding */
function creatorOf(
  counted: readonly StoredDetection[],
  all: readonly StoredDetection[],
): StoredDetection | undefined {
  const earliestIn = (detections: readonly StoredDetection[]) =>
    detections.find(({ createsVulnerability }) => createsVulnerability);
  return (
    earliestIn(counted) ??
    (counted.length < all.length ? earliestIn([...all].sort(inOrderOfDetection)) : undefined)
  );
}

/**
 * Derives the state of a finding from all imports that are not undone and from changes by people (docs/companions.md,
 * section 7). The order in which reports were imported or undone does not matter, because each counts at its own time.
 * @returns `undefined` if the vulnerability does not exist: no import creates it, and no person changed it
 */
export function deriveFinding(facts: FindingFacts): DerivedFinding | undefined {
  const { detections, scopes, firstEditedAt } = facts;
  const counted = countedDetections(detections);
  const creator = creatorOf(counted, detections);
  if (creator === undefined && firstEditedAt === null) return undefined;
  const last = counted.at(-1);
  const firstScope = firstScopeAfter(last, scopes);
  const { fixedBy, ...status } = deriveStatus(facts, counted, creator);
  // If a report fixed it, that report marks it as gone, even if an earlier one already lacked it.
  const goneScope = firstScope === undefined ? undefined : (fixedBy ?? firstScope);
  return {
    importId: facts.publishedBy ?? creator?.importId ?? null,
    firstSeenAt: counted.length === 0 ? null : Math.min(...counted.map(({ firstSeenAt }) => firstSeenAt)),
    goneAt: goneScope?.coveredAt ?? null,
    goneImportId: goneScope?.importId ?? null,
    ...status,
  };
}

function firstScopeAfter(
  last: StoredDetection | undefined,
  scopes: readonly CoveringScope[],
): CoveringScope | undefined {
  if (scopes.length === 0) return undefined;
  const since = last === undefined ? undefined : momentOf(last);
  return scopes
    .map((scope) => ({ ...scope, at: scope.coveredAt }))
    .filter((scope) => since === undefined || inOrderOfTime(scope, since) > 0)
    .sort(inOrderOfTime)[0];
}

type DerivedStatus = Pick<DerivedFinding, 'statusId' | 'decidedAt' | 'closedAt'>;
/** `fixedBy`: the report that set it to Fixed since it was last seen. */
type StatusHistory = DerivedStatus & {
  fixedBy: CoveringScope | undefined;
  statusBeforeRetest: number | null;
};

/** Applies events to a status in the order of time. A person's change follows the reports of the same time. */
function deriveStatus(
  { scopes, decisions, firstEditedAt }: FindingFacts,
  counted: readonly StoredDetection[],
  creator: StoredDetection | undefined,
): StatusHistory {
  const madeAt = creator === undefined ? undefined : momentOf(creator);
  // A person can only change an existing finding.
  const isOlder = madeAt === undefined || (firstEditedAt !== null && firstEditedAt < madeAt.at);
  const start: Moment = isOlder ? { at: -Infinity, importId: 0 } : madeAt;
  const carried = isOlder ? null : (creator?.carriedStatusId ?? null);
  let status: DerivedStatus = {
    statusId: carried ?? STATUS.pendingReview,
    decidedAt: null,
    closedAt: carried !== null && isClosed(carried) ? start.at : null,
  };
  if (decisions.length === 0 && !scopes.some(({ isFixing }) => isFixing) && status.statusId !== STATUS.fixed)
    return { ...status, fixedBy: undefined, statusBeforeRetest: null };
  let fixedBy: CoveringScope | undefined;
  const see = (at: number): void => {
    fixedBy = undefined;
    if (status.statusId === STATUS.fixed && at > (status.closedAt ?? Infinity))
      status = { statusId: STATUS.pendingFix, decidedAt: null, closedAt: null };
  };
  // A finding that a person reopened stays open until it is seen again.
  const fix = (scope: CoveringScope): void => {
    if (status.closedAt !== null || fixedBy !== undefined) return;
    fixedBy = scope;
    status = { statusId: STATUS.fixed, decidedAt: null, closedAt: scope.coveredAt };
  };
  let statusBeforeRetest: number | null = null;
  const decide = (decision: StatusDecision): void => {
    const { at } = decision;
    const statusId =
      'statusId' in decision
        ? decision.statusId
        : statusAfterRetest(decision.retest, status.statusId, statusBeforeRetest);
    if ('retest' in decision && decision.retest === 'requested') statusBeforeRetest = status.statusId;
    // A decision for the current status does not change the time at which it was closed.
    const isUnchanged = statusId === status.statusId;
    status = { statusId, decidedAt: at, closedAt: isUnchanged ? status.closedAt : closedAt(statusId, at) };
  };
  const events: (Moment & { apply: () => void })[] = [
    ...counted.map((detection) => ({ ...momentOf(detection), apply: () => see(detection.seenAt) })),
    ...scopes.flatMap((scope) =>
      scope.isFixing ? [{ at: scope.coveredAt, importId: scope.importId, apply: () => fix(scope) }] : [],
    ),
  ].filter((event) => inOrderOfTime(event, start) > 0);
  events.push(
    ...decisions.map((decision) => ({ at: decision.at, importId: Infinity, apply: () => decide(decision) })),
  );
  for (const { apply } of events.sort(inOrderOfTime)) apply();
  return { ...status, fixedBy, statusBeforeRetest };
}

/** @returns the status that a retest leaves; a decision changes only one that waits for it (operation 29) */
function statusAfterRetest(retest: Retest['status'], statusId: number, before: number | null): number {
  if (retest === 'requested') return STATUS.pendingVerification;
  if (statusId !== STATUS.pendingVerification) return statusId;
  if (retest === 'verified') return STATUS.fixed;
  return retest === 'failed' ? STATUS.fixInProgress : (before ?? statusId);
}
