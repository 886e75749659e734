import type { ObservedPort } from '../../../domain/assets/scans/diff-ports.ts';
import type { ReportedFinding } from '../../report.ts';

/** A host while it is read. */
export interface HostDraft {
  address: string | undefined;
  name: string | undefined;
  /** All host names, and the likeliest operating system. */
  names: Set<string>;
  system: string | undefined;
  /** `up`, `down`, or another text if the scan did not check. */
  status: string;
  timedOut: boolean;
  seenAt: number | undefined;
  ports: ObservedPort[];
  /** Whether the ports so far are sorted, so that none can repeat. */
  ordered: boolean;
  unlistedStates: Set<string>;
  hasScannedPorts: boolean;
  /** Script findings, with their port. */
  findings: (Omit<ReportedFinding, 'target'> & { port?: ObservedPort })[];
  /** Number of vulnerabilities that scripts call not vulnerable or could not test. */
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
  hasScannedPorts: false,
  findings: [],
  absent: 0,
});
