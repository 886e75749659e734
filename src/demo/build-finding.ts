import type { VulnerabilityInput } from '../domain/vulnerabilities/create-vulnerability.ts';
import type { SeededRandom } from './random.ts';
import { type DemoFinding, type TemplateValues, fillTemplate } from './affected-locations.ts';

/** How many days there are to fix something, by how bad it is. */
const DAYS_TO_FIX: Readonly<Record<string, number>> = { Critical: 14, High: 30, Medium: 90, Low: 180 };
const DAY = 86_400_000;

/** What a finding is given beside what was seen. */
export interface FindingContext {
  assessment: string;
  assetUids: readonly string[];
  assigneeId: number | undefined;
  tagIds: readonly number[];
  /** When it is reported: milliseconds since 1970. */
  at: number;
}

/** @returns a report as a tester writes it */
export function buildFinding(
  { template, values, location }: DemoFinding,
  around: FindingContext,
  random: SeededRandom,
): VulnerabilityInput {
  const { assessment, assetUids, assigneeId, tagIds, at } = around;
  const days = DAYS_TO_FIX[template.severity];
  const isNetwork = location.type === 'ip';
  return {
    assessment,
    title: fillTemplate(template.title, values),
    severity: template.severity,
    // A few were never scored.
    cvssVector: random.happens(92) ? template.vector : null,
    description: fillTemplate(template.description, values),
    impact: fillTemplate(template.impact, values),
    recommendedFix: fillTemplate(template.fix, values),
    category: { parent: template.category[0], display: template.category[1] },
    cweIds: template.cwes,
    cveIds: template.cves ?? [],
    exploitableLocations: [
      isNetwork
        ? { type: 'ip', address: location.value, port: location.port, protocol: protocolOf(location.port) }
        : { type: location.type, value: location.value },
    ],
    validationSteps: template.steps.map((detail, index) => ({
      detail: fillTemplate(detail, values),
      ...(index === 0 ? affectedLocation(location) : {}),
    })),
    httpRequests: (template.http ?? []).map((message) => asRequest(message, values)),
    referenceUrls: template.references,
    assetUids,
    assigneeId,
    dueOn:
      days === undefined || !random.happens(80)
        ? undefined
        : new Date(at + days * DAY).toISOString().slice(0, 10),
    tagIds,
  };
}

/** @returns a message with the words of the spot, its lines ended as HTTP has it */
export function asRequest(message: string, spot: TemplateValues): string {
  return fillTemplate(message, spot).replaceAll('\n', '\r\n');
}

function affectedLocation({ type, value, port }: DemoFinding['location']): object {
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
