import { parseSeverity } from '../../parsing/severity-and-cvss.ts';
import { extractCveIds } from '../../parsing/vulnerability-ids.ts';
import { htmlToMarkdown, htmlToText } from '../../parsing/html-to-markdown.ts';
import { extractUrls, parseWebUrl } from '../../parsing/urls.ts';
import { cutSharedName } from '../../targets.ts';
import type { SourceLocation, ReportedFinding, ReportRecord } from '../../report.ts';
import { foldCase } from '../../../lib/fold-case.ts';

/** The fields of an alert in both XML and JSON, without tags and instances. */
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

/** Further fields before 2.7, when an alert was its own single instance. */
export const INSTANCE_MEMBERS = ['uri', 'method', 'param', 'attack', 'evidence'] as const;

/** Instances with content per alert: one more than a finding stores, so that it counts as cut. */
const MAX_SHOWN = 21;
/** Characters: more than a finding stores, so the text counts as truncated. */
const MAX_OTHER_INFO = 100_000;
/** Characters of URLs per alert. */
const MAX_URLS = 8 * 1024 * 1024;

/** Collects an alert, which can have thousands of instances with request and response. */
export class ZapAlert {
  /** URL of the enclosing site. */
  readonly site: string | undefined;
  /** Fields by name. */
  readonly fields = new Map<string, string>();
  /** Names and links. */
  readonly tags: string[] = [];
  readonly instances: ZapInstance[] = [];
  #characters = 0;

  constructor(site: string | undefined) {
    this.site = site === undefined ? undefined : cutSharedName(site);
  }

  /** @param instance ignored without a URL */
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
const CONFIDENCES = [undefined, 'Low', 'Medium', 'High', 'Confirmed'];

/**
 * Active rules whose ids are among those of passive ones (https://www.zaproxy.org/docs/alerts/). Passive rules watch
 * every scan; active ones attack, and only some scans run them.
 */
const ACTIVE_AMONG_PASSIVE = new Set(
  [10045, 10047, 10048, 10051, 10053, 10058, 10095, 10104, 10106, 10107].map(String),
);
const PASSIVE_AMONG_ACTIVE = new Set([90001, 90003, 90004, 90005, 90011, 90022, 90030, 90033].map(String));

/** @returns the kind of the rule; one that is not known, such as a script, counts as passive */
export function checksOfAlert({ fields }: ZapAlert): 'active' | 'passive' {
  const plugin = fields.get('pluginid') ?? fields.get('alertRef')?.replace(/-.*/, '') ?? '';
  if (ACTIVE_AMONG_PASSIVE.has(plugin)) return 'active';
  const number = Number(plugin);
  const isActive = (number >= 20_000 && number < 50_000) || (number >= 90_000 && number < 100_000);
  const isOldActive = [6, 7, 41, 42, 43].includes(number);
  return (isActive && !PASSIVE_AMONG_ACTIVE.has(plugin)) || isOldActive ? 'active' : 'passive';
}

/** Yields a finding per site of the alert's instances, nearly always one. */
export function* recordsOfAlert(alert: ZapAlert, location: SourceLocation): Generator<ReportRecord> {
  const { fields } = alert;
  const name = fields.get('name') ?? fields.get('alert');
  const riskWords = fields.get('riskdesc') ?? '';
  if (fields.get('confidence') === FALSE_POSITIVE || /\(false positive\)/i.test(riskWords)) {
    yield { kind: 'skipped', reason: 'false positive', location };
    return;
  }
  // Alerts added by hand have -1 or no id; only the name distinguishes them.
  const ids = [fields.get('alertRef'), fields.get('pluginid')];
  const id = ids.find((text) => text !== undefined && !/^(-1|0)?$/.test(text));
  const rule = id ?? (name === undefined ? undefined : foldCase(name).replaceAll(/\s+/g, ' '));
  if (rule === undefined) {
    yield { kind: 'unreadable', reason: 'no name', location };
    return;
  }
  const [description, solution] = [fields.get('desc'), fields.get('solution')];
  const weakness = Number(fields.get('cweid'));
  const common: ReportedFinding = {
    rule,
    checks: checksOfAlert(alert),
    title: name ?? rule,
    severity:
      RISKS[Number(fields.get('riskcode'))] ?? parseSeverity(riskWords.split('(')[0]) ?? 'Informational',
    description: description === undefined ? undefined : htmlToMarkdown(description),
    recommendedFix: solution === undefined ? undefined : htmlToMarkdown(solution),
    cweIds: weakness > 0 ? [`CWE-${weakness}`] : [],
    cveIds: extractCveIds([name, ...alert.tags].join(' ')),
    referenceUrls: [...new Set([fields.get('reference'), ...alert.tags].flatMap(extractUrls))],
  };
  for (const [url, instances] of bySite(alert)) {
    const locations = instances.flatMap(({ uri }) =>
      uri === undefined ? [] : [{ type: 'url' as const, value: uri }],
    );
    yield {
      kind: 'finding',
      finding: {
        ...common,
        target: url === undefined ? undefined : { url },
        // An alert without instances is about its site.
        ...(locations.length === 0 ? {} : { locations }),
        evidence: instances.slice(0, MAX_SHOWN).map((instance) => evidenceOf(alert, instance)),
      },
      location,
    };
  }
}

function bySite({ site, instances }: ZapAlert): Map<string | undefined, ZapInstance[]> {
  const home = parseWebUrl(site)?.origin;
  const sites = new Map<string | undefined, ZapInstance[]>();
  for (const instance of instances) {
    const origin = parseWebUrl(instance.uri)?.origin ?? home;
    const existing = sites.get(origin);
    if (existing === undefined) sites.set(origin, [instance]);
    else existing.push(instance);
  }
  return sites.size === 0 ? new Map([[home, []]]) : sites;
}

function evidenceOf({ fields }: ZapAlert, instance: ZapInstance): string {
  const { uri, method = 'GET', param, attack, evidence, otherInfo, request, response } = instance;
  const confidence = CONFIDENCES[Number(fields.get('confidence'))];
  const facts = [
    // Before 2.11 alerts of different kinds share a rule; the evidence keeps their names.
    fields.has('alertRef') ? undefined : (fields.get('name') ?? fields.get('alert')),
    `${method} ${uri}`,
    param === undefined ? undefined : `Parameter: ${param}`,
    attack === undefined ? undefined : `Attack: ${attack}`,
    evidence === undefined ? undefined : `Evidence: ${evidence}`,
    confidence === undefined ? undefined : `Confidence: ${confidence}`,
    // All instances repeat it.
    otherInfo ?? otherInfoOf(fields.get('otherinfo')),
    request,
    response,
  ];
  return facts.filter((fact) => fact !== undefined).join('\n\n');
}

/** ZAP makes HTML of the text of an alert, and leaves that of an instance as it is. */
function otherInfoOf(text: string | undefined): string | undefined {
  const shown = text?.slice(0, MAX_OTHER_INFO);
  return shown?.startsWith('<p>') === true ? htmlToText(shown) : shown;
}
