import { severityOf } from '../../reading/scores.ts';
import { cvesIn, markdownOf } from '../../reading/texts.ts';
import { urlsIn, webUrl } from '../../reading/urls.ts';
import type { Place, ReportedFinding, ReportRecord } from '../../report.ts';

/** An alert as both forms of the report tell it. */
export interface Alert {
  pluginId: string | undefined;
  /** The plug-in's id, with a number where it raises alerts of several kinds; since ZAP 2.11. */
  alertRef: string | undefined;
  name: string | undefined;
  riskCode: string | undefined;
  /** Risk and confidence in words: `Low (Medium)`. */
  riskWords: string | undefined;
  confidence: string | undefined;
  description: string | undefined;
  solution: string | undefined;
  otherInfo: string | undefined;
  reference: string | undefined;
  cweId: string | undefined;
  /** Names and links. */
  tags: readonly string[];
  instances: readonly Instance[];
  /** The URL of the site that the alert stands in. */
  site: string | undefined;
}

export interface Instance {
  uri: string | undefined;
  method: string | undefined;
  param: string | undefined;
  attack: string | undefined;
  evidence: string | undefined;
  otherInfo: string | undefined;
  request: string | undefined;
  response: string | undefined;
}

/** zaproxy.org/docs/desktop/ui/dialogs/options/alert: 0 to 3. */
const RISKS = ['Informational', 'Low', 'Medium', 'High'] as const;
const FALSE_POSITIVE = '0';

/** @returns a finding for each site that the alert has instances of; nearly always one */
export function* recordsOfAlert(alert: Alert, at: Place): Generator<ReportRecord> {
  const { name, riskWords = '' } = alert;
  if (alert.confidence === FALSE_POSITIVE || /\(false positive\)/i.test(riskWords)) {
    yield { kind: 'skipped', reason: 'false positive', at };
    return;
  }
  const rule = ruleOf(alert);
  if (rule === undefined) {
    yield { kind: 'skipped', reason: 'no name', at };
    return;
  }
  const common: ReportedFinding = {
    rule,
    title: name ?? rule,
    severity: RISKS[Number(alert.riskCode)] ?? severityOf(riskWords.split('(')[0] ?? '') ?? 'Informational',
    description: alert.description === undefined ? undefined : markdownOf(alert.description),
    recommendedFix: alert.solution === undefined ? undefined : markdownOf(alert.solution),
    cweIds: Number(alert.cweId) > 0 ? [`CWE-${Number(alert.cweId)}`] : [],
    cveIds: cvesIn([name, ...alert.tags].join(' ')),
    referenceUrls: [...new Set([alert.reference, ...alert.tags].flatMap(urlsIn))],
  };
  for (const [url, instances] of bySite(alert)) {
    yield {
      kind: 'finding',
      finding: {
        ...common,
        target: url === undefined ? undefined : { url },
        locations: instances.flatMap(({ uri }) =>
          uri === undefined ? [] : [{ type: 'url' as const, value: uri }],
        ),
        evidence: instances.map((instance) => evidenceOf(alert, instance)).filter((text) => text !== ''),
      },
      at,
    };
  }
}

/** What people add by hand has -1 or nothing, and its name alone tells it from others. */
function ruleOf({ alertRef, pluginId, name }: Alert): string | undefined {
  const id = [alertRef, pluginId].find((text) => text !== undefined && !/^(-1|0)?$/.test(text));
  return id ?? name?.toLowerCase().replaceAll(/\s+/g, ' ');
}

function bySite({ site, instances }: Alert): Map<string | undefined, Instance[]> {
  const home = webUrl(site)?.origin;
  const sites = new Map<string | undefined, Instance[]>();
  for (const instance of instances) {
    const origin = webUrl(instance.uri)?.origin ?? home;
    const there = sites.get(origin);
    if (there === undefined) sites.set(origin, [instance]);
    else there.push(instance);
  }
  return sites.size === 0 ? new Map([[home, []]]) : sites;
}

function evidenceOf(alert: Alert, instance: Instance): string {
  const { uri, method, param, attack, evidence, request, response } = instance;
  const facts = [
    // Before 2.11 one plug-in's alerts of several kinds are one rule; their names are kept here.
    alert.alertRef === undefined ? alert.name : undefined,
    uri === undefined ? undefined : `${method ?? 'GET'} ${uri}`,
    param === undefined ? undefined : `Parameter: ${param}`,
    attack === undefined ? undefined : `Attack: ${attack}`,
    evidence === undefined ? undefined : `Evidence: ${evidence}`,
    instance.otherInfo ?? alert.otherInfo,
    request,
    response,
  ];
  return facts.filter((fact) => fact !== undefined).join('\n\n');
}
