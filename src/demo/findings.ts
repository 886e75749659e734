import type { VulnerabilityInput } from '../domain/vulnerabilities/vulnerability-links.ts';
import type { Chance } from './chance.ts';
import { type Sighting, type Spot, told } from './spots.ts';

/** How many days there are to fix something, by how bad it is. */
const DAYS_TO_FIX: Readonly<Record<string, number>> = { Critical: 14, High: 30, Medium: 90, Low: 180 };
const DAY = 86_400_000;

/** What a finding is given beside what was seen. */
export interface Around {
  assessment: string;
  assetUids: readonly string[];
  assigneeId: number | undefined;
  tagIds: readonly number[];
  /** When it is reported: milliseconds since 1970. */
  at: number;
}

/** @returns a report as a tester writes it */
export function findingOf(
  { weakness, spot, location }: Sighting,
  around: Around,
  chance: Chance,
): VulnerabilityInput {
  const { assessment, assetUids, assigneeId, tagIds, at } = around;
  const days = DAYS_TO_FIX[weakness.severity];
  const isNetwork = location.type === 'ip';
  return {
    assessment,
    title: told(weakness.title, spot),
    severity: weakness.severity,
    // A few were never scored.
    cvssVector: chance.happens(92) ? weakness.vector : null,
    description: told(weakness.description, spot),
    impact: told(weakness.impact, spot),
    recommendedFix: told(weakness.fix, spot),
    category: { parent: weakness.category[0], display: weakness.category[1] },
    cweIds: weakness.cwes,
    cveIds: weakness.cves ?? [],
    exploitableLocations: [
      isNetwork
        ? { type: 'ip', address: location.value, port: location.port, protocol: protocolOf(location.port) }
        : { type: location.type, value: location.value },
    ],
    validationSteps: weakness.steps.map((detail, index) => ({
      detail: told(detail, spot),
      ...(index === 0 ? whereOf(location) : {}),
    })),
    httpRequests: (weakness.http ?? []).map((message) => asSent(message, spot)),
    referenceUrls: weakness.references,
    assetUids,
    assigneeId,
    dueOn:
      days === undefined || !chance.happens(80)
        ? undefined
        : new Date(at + days * DAY).toISOString().slice(0, 10),
    tagIds,
  };
}

/** @returns a message with the words of the spot, its lines ended as HTTP has it */
export function asSent(message: string, spot: Spot): string {
  return told(message, spot).replaceAll('\n', '\r\n');
}

function whereOf({ type, value, port }: Sighting['location']): object {
  switch (type) {
    case 'url':
      return { url: value };
    case 'ip':
      return { ip_address: value, port, port_type: protocolOf(port) };
    case 'app-location':
      return {};
  }
}

function protocolOf(port: number | undefined): string {
  return port === 161 || port === 123 ? 'udp' : 'tcp';
}
