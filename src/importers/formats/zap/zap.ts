import {
  ALERT_MEMBERS,
  checksOfAlert,
  INSTANCE_MEMBERS,
  recordsOfAlert,
  ZapAlert,
  type ZapInstance,
} from './alerts.ts';
import { streamJsonMatches } from '../../parsing/json-stream.ts';
import {
  arrayOf,
  asJsonObject,
  isJsonObject,
  type JsonObject,
  textOf,
  textsOf,
} from '../../parsing/json-values.ts';
import { firstTime } from '../../parsing/parse-time.ts';
import { peekStart } from '../../parsing/encodings.ts';
import { parseWebUrl } from '../../parsing/urls.ts';
import { streamXmlMatches, textAt, textsAt, type XmlElement } from '../../parsing/xml-stream.ts';
import type { ReportFormat, ReportRecord } from '../../report.ts';

/**
 * ZAP's traditional reports in XML and JSON since 2.4, with and without messages:
 * https://www.zaproxy.org/docs/desktop/addons/report-generation/report-traditional-json-plus/ and -xml-plus.
 */
export const zap: ReportFormat = {
  name: 'zap',
  title: 'ZAP XML or JSON',
  hasFindings: true,
  detect: ({ root, json }) => root?.name === 'OWASPZAPReport' || isReport(json),
  async *read(source) {
    const { start, all } = await peekStart(source());
    const scanScope = new ZapScanScope();
    yield* start.startsWith('<') ? readXml(all, scanScope) : readJson(all, scanScope);
    yield* scanScope.records();
  },
};

const MAX_SITES = 100_000;

function isReport(json: unknown): boolean {
  if (!isJsonObject(json) || !('site' in json)) return false;
  // The sites may come first and be long.
  const [site] = arrayOf(json.site).map(asJsonObject);
  return ['@version', '@generated', '@programName'].some((name) => name in json) || '@name' in (site ?? {});
}

/** The sites that a report names, and the kinds of rules that found something on any of them. */
class ZapScanScope {
  readonly #sites = new Set<string>();
  readonly #checks = new Set<string>();

  addSite(name: string | undefined): void {
    const url = parseWebUrl(name)?.origin;
    if (url !== undefined && this.#sites.size < MAX_SITES) this.#sites.add(url);
  }

  add(alert: ZapAlert): void {
    this.#checks.add(checksOfAlert(alert));
  }

  /** Passive rules always run. A report without any alert covers all rules. */
  *records(): Generator<ReportRecord> {
    const checks = this.#checks.size === 0 ? ('all' as const) : [...this.#checks.add('passive')].toSorted();
    for (const url of this.#sites) yield { kind: 'covered', target: { url }, checks };
  }
}

async function* readXml(
  chunks: AsyncIterable<Uint8Array>,
  scanScope: ZapScanScope,
): AsyncGenerator<ReportRecord> {
  const item = 'OWASPZAPReport.site.alerts.alertitem';
  const matches = streamXmlMatches(chunks, {
    roots: ['OWASPZAPReport'],
    begins: ['OWASPZAPReport', 'OWASPZAPReport.site', item],
    ends: [item],
    paths: [...ALERT_MEMBERS, ...INSTANCE_MEMBERS, 'tags', 'instances.instance'].map(
      (name) => `${item}.${name}`,
    ),
  });
  let alert: ZapAlert | undefined;
  // Before 2.7 an alert was a single instance.
  let alertElements: XmlElement[] = [];
  for await (const { path, element, ancestors, line } of matches) {
    const { name, attributes, text } = element;
    if (path === 'OWASPZAPReport') {
      const scannedAt = firstTime(attributes.created, attributes.generated);
      if (scannedAt !== undefined) yield { kind: 'report', scannedAt };
    } else if (path === 'OWASPZAPReport.site') {
      scanScope.addSite(attributes.name);
    } else if (path !== item) {
      if (name === 'instance') alert?.add(instanceOfElement(element));
      else if (name === 'tags')
        alert?.tags.push(...textsAt(element, 'tag', 'tag'), ...textsAt(element, 'tag', 'link'));
      else if (text.trim() !== '') alert?.fields.set(name, text.trim());
      if (name !== 'instance') alertElements.push(element);
    } else if (alert === undefined) {
      alert = new ZapAlert(ancestors[1]?.attributes.name);
      alertElements = [];
    } else {
      if (alert.instances.length === 0) {
        alert.add(instanceOfElement({ name, attributes, text: '', children: alertElements }));
      }
      scanScope.add(alert);
      yield* recordsOfAlert(alert, { line });
      alert = undefined;
    }
  }
}

function instanceOfElement(element: XmlElement): ZapInstance {
  return {
    uri: textAt(element, 'uri'),
    method: textAt(element, 'method'),
    param: textAt(element, 'param'),
    attack: textAt(element, 'attack'),
    evidence: textAt(element, 'evidence'),
    otherInfo: textAt(element, 'otherinfo'),
    request: message(textAt(element, 'requestheader'), textAt(element, 'requestbody')),
    response: message(textAt(element, 'responseheader'), textAt(element, 'responsebody')),
  };
}

const SITES = ['site.*', 'site'];
const ALERT_PATHS = SITES.flatMap((site) =>
  [...ALERT_MEMBERS, 'tags', 'instances.*'].map((name) => `${site}.alerts.*.${name}`),
);

/** Members may come in any order. An alert before the name of its site gets the site of its instances. */
async function* readJson(
  chunks: AsyncIterable<Uint8Array>,
  scanScope: ZapScanScope,
): AsyncGenerator<ReportRecord> {
  const names = SITES.map((site) => `${site}.@name`);
  let site: { key: string; name: string | undefined } | undefined;
  let open: { key: string; number: number; alert: ZapAlert; offset: number } | undefined;
  let created: unknown;
  const matches = streamJsonMatches(chunks, ['@generated', 'created', ...names, ...ALERT_PATHS]);
  for await (const { path, keys, value, offset } of matches) {
    const depth = keys.indexOf('alerts') + 2;
    const key = keys.slice(0, depth).join('.');
    let follows = -1;
    if (open !== undefined && open.key !== key) {
      scanScope.add(open.alert);
      yield* recordsOfAlert(open.alert, { offset: open.offset });
      if (open.key.startsWith(`${keys.slice(0, depth - 1).join('.')}.`)) follows = open.number;
      open = undefined;
    }
    if (path === 'created' || path === '@generated') {
      if (path === 'created') created = value;
      const scannedAt = firstTime(created, value);
      if (scannedAt !== undefined) yield { kind: 'report', scannedAt };
    } else if (names.includes(path)) {
      site = { key: String(keys[1]), name: textOf(value) };
      scanScope.addSite(site.name);
    } else {
      if (open === undefined) {
        const number = Number(keys[depth - 1]);
        // List entries between two alerts that are not alerts themselves.
        for (let gap = follows + 1; gap < number; gap += 1) {
          yield { kind: 'unreadable', reason: 'not an alert', location: { offset } };
        }
        const isInNamedSite = depth === 3 || site?.key === String(keys[1]);
        open = { key, number, alert: new ZapAlert(isInNamedSite ? site?.name : undefined), offset };
      }
      addToAlert(open.alert, keys.slice(depth), value);
    }
  }
  if (open === undefined) return;
  scanScope.add(open.alert);
  yield* recordsOfAlert(open.alert, { offset: open.offset });
}

function addToAlert(alert: ZapAlert, [name]: readonly (string | number)[], value: unknown): void {
  const text = textOf(value);
  if (name === 'instances') alert.add(instanceOfJson(asJsonObject(value)));
  else if (name === 'tags') {
    for (const { tag, link } of arrayOf(value).map(asJsonObject))
      alert.tags.push(...textsOf(tag), ...textsOf(link));
  } else if (text !== undefined) alert.fields.set(String(name), text);
}

function instanceOfJson(instance: JsonObject): ZapInstance {
  return {
    uri: textOf(instance.uri),
    method: textOf(instance.method),
    param: textOf(instance.param),
    attack: textOf(instance.attack),
    evidence: textOf(instance.evidence),
    otherInfo: textOf(instance.otherinfo),
    request: message(textOf(instance['request-header']), textOf(instance['request-body'])),
    response: message(textOf(instance['response-header']), textOf(instance['response-body'])),
  };
}

function message(head: string | undefined, body: string | undefined): string | undefined {
  const parts = [head, body].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join('\n\n');
}
