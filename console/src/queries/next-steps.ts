import type { VulnerabilityRights } from '../session/permissions.ts';
import { maySetStatus } from './statuses.ts';

export type NextStep = 'confirm' | 'startFix' | 'requestRetest' | 'decideRetest' | 'wait';

/** The fields that determine the next step of a finding. */
export interface NextStepFinding {
  id: number;
  status_id: number;
  /** The reader's rights: `may` of a finding, or those of a row of a list. */
  rights: Omit<VulnerabilityRights, 'edit'> & { decide_retest?: boolean };
  /** Whether a retest is requested; without it, the status decides. */
  isRetestRequested?: boolean | undefined;
}

const PENDING_REVIEW = 1;
const PENDING_FIX = 2;
const FIX_IN_PROGRESS = 3;
const PENDING_VERIFICATION = 4;

/** @returns the next step of a finding for its reader; undefined if there is none, or the reader may not take it */
export function nextStepOf(finding: NextStepFinding): NextStep | undefined {
  const { status_id: from, rights, isRetestRequested = from === PENDING_VERIFICATION } = finding;
  if (from > PENDING_VERIFICATION) return undefined;
  if (isRetestRequested) return rights.decide_retest === true ? 'decideRetest' : 'wait';
  if (from === PENDING_REVIEW) return rights.triage ? 'confirm' : undefined;
  if (from === PENDING_FIX)
    return maySetStatus(rights, { from, to: FIX_IN_PROGRESS }) ? 'startFix' : undefined;
  return rights.comment ? 'requestRetest' : undefined;
}

const STATUSES: Partial<Readonly<Record<NextStep, number>>> = {
  confirm: PENDING_FIX,
  startFix: FIX_IN_PROGRESS,
};

/** @returns the status that a step sets; undefined if it takes more than that */
export const statusOfStep = (step: NextStep): number | undefined => STATUSES[step];

/** Whether the reader may dismiss a finding that waits for review instead of confirming it. */
export const mayDismissNext = ({ status_id: from, rights }: NextStepFinding): boolean =>
  from === PENDING_REVIEW && rights.dismiss;
