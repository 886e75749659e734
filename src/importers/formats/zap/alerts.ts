import { parseSeverity } from '../../parsing/severity-and-cvss.ts';
import { extractCveIds, htmlToMarkdown } from '../../parsing/markdown.ts';
import { extractUrls, parseWebUrl } from '../../parsing/urls.ts';
import type { SourceLocation, ReportedFinding, ReportRecord } from '../../report.ts';

/** What an alert says of itself, by the names that both forms of the report use, beside its tags and instances. */
export const ALERT_MEMBERS = [
  'pluginid',
  'alertRef',
  'alert',
  'name',
  'riskcode',
  'riskdesc',
  'confidence',
  'desc',
  'solution',
  'otherinfo',
  'reference',
  'cweid',
] as const;

/** What an alert of ZAP before 2.7 says beside them, whose one instance it is itself. */
export const INSTANCE_MEMBERS = ['uri', 'method', 'param', 'attack', 'evidence'] as const;

/** Of so many instances an alert keeps what they show; more than a finding has as evidence, so that they count as cut. */
const MAX_SHOWN = 21;
/** How much the URLs of one alert may keep in memory, in characters. */
const MAX_URLS = 8 * 1024 * 1024;

/** An alert as it is read: it can have many thousand instances, each with a request and its answer. */
export class ZapAlert {
  /** The URL of the site that the alert stands in. */
  readonly site: string | undefined;
  /** The members' texts. */
  readonly said = new Map<string, string>();
  /** Names and links. */
  readonly tags: string[] = [];
  readonly instances: ZapInstance[] = [];
  #characters = 0;

  constructor(site: string | undefined) {
    this.site = site;
  }

  /** @param instance is passed over when it has no URL */
  add(instance: ZapInstance): void {
    const { uri } = instance;
    if (uri === undefined || this.#characters > MAX_URLS) return;
    this.#characters += uri.length;
    this.instances.push(this.instances.length < MAX_SHOWN ? instance : { uri });
  }
}

export interface ZapInstance {
  uri: string | undefined;
  method?: string | undefined;
  param?: string | undefined;
  attack?: string | undefined;
  evidence?: string | undefined;
  otherInfo?: string | undefined;
  request?: string | undefined;
  response?: string | undefined;
}

/** zaproxy.org/docs/desktop/ui/dialogs/options/alert: 0 to 3. */
const RISKS = ['Informational', 'Low', 'Medium', 'High'] as const;
const FALSE_POSITIVE = '0';

/** @returns a finding for each site that the alert has instances of; nearly always one */
export function* recordsOfAlert(alert: ZapAlert, at: SourceLocation): Generator<ReportRecord> {
  const { said } = alert;
  const name = said.get('name') ?? said.get('alert');
  const riskWords = said.get('riskdesc') ?? '';
  if (said.get('confidence') === FALSE_POSITIVE || /\(false positive\)/i.test(riskWords)) {
    yield { kind: 'skipped', reason: 'false positive', at };
    return;
  }
  // What people add by hand has -1 or nothing, and its name alone tells it from others.
  const ids = [said.get('alertRef'), said.get('pluginid')];
  const id = ids.find((text) => text !== undefined && !/^(-1|0)?$/.test(text));
  const rule = id ?? name?.toLowerCase().replaceAll(/\s+/g, ' ');
  if (rule === undefined) {
    yield { kind: 'skipped', reason: 'no name', at };
    return;
  }
  const [description, solution] = [said.get('desc'), said.get('solution')];
  const weakness = Number(said.get('cweid'));
  const common: ReportedFinding = {
    rule,
    title: name ?? rule,
    severity:
      RISKS[Number(said.get('riskcode'))] ?? parseSeverity(riskWords.split('(')[0]) ?? 'Informational',
    description: description === undefined ? undefined : htmlToMarkdown(description),
    recommendedFix: solution === undefined ? undefined : htmlToMarkdown(solution),
    cweIds: weakness > 0 ? [`CWE-${weakness}`] : [],
    cveIds: extractCveIds([name, ...alert.tags].join(' ')),
    referenceUrls: [...new Set([said.get('reference'), ...alert.tags].flatMap(extractUrls))],
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
        evidence: instances.slice(0, MAX_SHOWN).map((instance) => evidenceOf(alert, instance)),
      },
      at,
    };
  }
}

function bySite({ site, instances }: ZapAlert): Map<string | undefined, ZapInstance[]> {
  const home = parseWebUrl(site)?.origin;
  const sites = new Map<string | undefined, ZapInstance[]>();
  for (const instance of instances) {
    const origin = parseWebUrl(instance.uri)?.origin ?? home;
    const there = sites.get(origin);
    if (there === undefined) sites.set(origin, [instance]);
    else there.push(instance);
  }
  return sites.size === 0 ? new Map([[home, []]]) : sites;
}

function evidenceOf({ said }: ZapAlert, instance: ZapInstance): string {
  const { uri, method = 'GET', param, attack, evidence, otherInfo, request, response } = instance;
  const facts = [
    // Before 2.11 one plug-in's alerts of several kinds are one rule; their names are kept here.
    said.has('alertRef') ? undefined : (said.get('name') ?? said.get('alert')),
    `${method} ${uri}`,
    param === undefined ? undefined : `Parameter: ${param}`,
    attack === undefined ? undefined : `Attack: ${attack}`,
    evidence === undefined ? undefined : `Evidence: ${evidence}`,
    otherInfo ?? said.get('otherinfo'),
    request,
    response,
  ];
  return facts.filter((fact) => fact !== undefined).join('\n\n');
}
