import type { VulnerabilityInput } from '../domain/vulnerabilities/create-vulnerability.ts';
import type { SeededRandom } from './random.ts';
import { type DemoFinding, type TemplateValues, fillTemplate } from './affected-locations.ts';

/** Days until a fix is due, by severity. */
const DAYS_TO_FIX: Readonly<Record<string, number>> = { Critical: 14, High: 30, Medium: 90, Low: 180 };
const DAY = 86_400_000;

/** The fields of a finding that do not come from its template. */
export interface FindingContext {
  assessment: string;
  assetUids: readonly string[];
  assigneeId: number | undefined;
  tagIds: readonly number[];
  /** Report time, in milliseconds since 1970. */
  at: number;
}

export function buildFinding(
  { template, values, location }: DemoFinding,
  context: FindingContext,
  random: SeededRandom,
): VulnerabilityInput {
  const { assessment, assetUids, assigneeId, tagIds, at } = context;
  const days = DAYS_TO_FIX[template.severity];
  const isNetwork = location.type === 'ip';
  return {
    assessment,
    title: fillTemplate(template.title, values),
    severity: template.severity,
    // A few findings have no score.
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

/** Fills in an HTTP message and converts its line ends to CRLF. */
export function asRequest(message: string, values: TemplateValues): string {
  return fillTemplate(message, values).replaceAll('\n', '\r\n');
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
