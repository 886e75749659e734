import type { ObservedPort } from '../../../domain/assets/scans/diff-ports.ts';
import type { ReportedFinding } from '../../report.ts';

/** A host as far as the report has told of it. */
export interface HostDraft {
  address: string | undefined;
  name: string | undefined;
  /** All of its names, and what the scan takes its system for. */
  names: Set<string>;
  system: string | undefined;
  /** What the scan says of it, `up` or `down`, or something else where it did not ask. */
  status: string;
  timedOut: boolean;
  seenAt: number | undefined;
  ports: ObservedPort[];
  /** Whether each port so far comes after the one before it, so that none can be there twice. */
  ordered: boolean;
  unlistedStates: Set<string>;
  /** Whether the scan got as far as ports. */
  scannedPorts: boolean;
  /** What scripts found, and where. */
  findings: (Omit<ReportedFinding, 'target'> & { port?: ObservedPort })[];
  /** What scripts looked for and did not find. */
  absent: number;
}

export const newHostDraft = (timedOut: boolean, seenAt: number | undefined): HostDraft => ({
  address: undefined,
  name: undefined,
  names: new Set(),
  system: undefined,
  status: 'up',
  timedOut,
  seenAt,
  ports: [],
  ordered: true,
  unlistedStates: new Set(),
  scannedPorts: false,
  findings: [],
  absent: 0,
});
