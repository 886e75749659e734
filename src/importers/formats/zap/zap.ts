import { elementsAt, textAt, textsAt } from '../../reading/elements.ts';
import { withFirstCharacter } from '../../reading/first-character.ts';
import { isObject, listOf, membersOf, type Members, textOf, textsOf } from '../../reading/json-members.ts';
import { readJsonPieces } from '../../reading/json-pieces.ts';
import { timeOf } from '../../reading/times.ts';
import { webUrl } from '../../reading/urls.ts';
import { readXmlPieces, type XmlElement } from '../../reading/xml-pieces.ts';
import type { Format, ReportRecord } from '../../report.ts';
import { type Alert, type Instance, recordsOfAlert } from './alerts.ts';

/**
 * The traditional reports of ZAP in XML and JSON, with and without requests and answers, from version 2.4 on:
 * https://www.zaproxy.org/docs/desktop/addons/report-generation/report-traditional-json-plus/ and -xml-plus.
 */
export const zap: Format = {
  name: 'zap',
  title: 'ZAP XML or JSON',
  findings: true,
  recognise: ({ root, json }) => root?.name === 'OWASPZAPReport' || isReport(json),
  async *read(source) {
    const { first, all } = await withFirstCharacter(source());
    yield* first === '<' ? readXml(all) : readJson(all);
  },
};

function isReport(json: unknown): boolean {
  return (
    isObject(json) &&
    'site' in json &&
    ['@version', '@generated', '@programName'].some((name) => name in json)
  );
}

async function* readXml(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ReportRecord> {
  const pieces = readXmlPieces(chunks, {
    roots: ['OWASPZAPReport'],
    begins: ['OWASPZAPReport', 'OWASPZAPReport.site'],
    paths: ['OWASPZAPReport.site.alerts.alertitem'],
  });
  for await (const { path, element, ancestors, line } of pieces) {
    const { attributes } = element;
    if (path === 'OWASPZAPReport') {
      const scannedAt = timeOf(attributes.created) ?? timeOf(attributes.generated);
      if (scannedAt !== undefined) yield { kind: 'report', scannedAt };
    } else if (path === 'OWASPZAPReport.site') {
      yield* recordsOfSite(attributes.name);
    } else {
      yield* recordsOfAlert(alertOfElement(element, ancestors[1]?.attributes.name), { line });
    }
  }
}

function* recordsOfSite(name: string | undefined): Generator<ReportRecord> {
  const url = webUrl(name)?.origin;
  if (url !== undefined) yield { kind: 'covered', target: { url } };
}

function alertOfElement(element: XmlElement, site: string | undefined): Alert {
  const instances = elementsAt(element, 'instances', 'instance');
  return {
    pluginId: textAt(element, 'pluginid'),
    alertRef: textAt(element, 'alertRef'),
    name: textAt(element, 'name') ?? textAt(element, 'alert'),
    riskCode: textAt(element, 'riskcode'),
    riskWords: textAt(element, 'riskdesc'),
    confidence: textAt(element, 'confidence'),
    description: textAt(element, 'desc'),
    solution: textAt(element, 'solution'),
    otherInfo: textAt(element, 'otherinfo'),
    reference: textAt(element, 'reference'),
    cweId: textAt(element, 'cweid'),
    tags: [...textsAt(element, 'tags', 'tag', 'tag'), ...textsAt(element, 'tags', 'tag', 'link')],
    // Until 2.6 an alert was one instance.
    instances: (instances.length === 0 ? [element] : instances).map(instanceOfElement).filter(hasUri),
    site,
  };
}

function instanceOfElement(element: XmlElement): Instance {
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

function hasUri({ uri }: Instance): boolean {
  return uri !== undefined;
}

/** The report's members may stand in any order; an alert whose site is not named before it has that of its instances. */
async function* readJson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ReportRecord> {
  const names = ['site.*.@name', 'site.@name'];
  const alerts = ['site.*.alerts.*', 'site.alerts.*'];
  let site: { key: unknown; name: string | undefined } | undefined;
  let created: number | undefined;
  for await (const { path, keys, value, offset } of readJsonPieces(chunks, [
    '@generated',
    'created',
    ...names,
    ...alerts,
  ])) {
    if (path === 'created' || path === '@generated') {
      if (path === 'created') created = timeOf(textOf(value));
      const scannedAt = created ?? timeOf(textOf(value));
      if (scannedAt !== undefined) yield { kind: 'report', scannedAt };
    } else if (names.includes(path)) {
      site = { key: keys[1], name: textOf(value) };
      yield* recordsOfSite(site.name);
    } else if (isObject(value)) {
      const isThere = site !== undefined && (path === 'site.alerts.*' || site.key === keys[1]);
      yield* recordsOfAlert(alertOfJson(value, isThere ? site?.name : undefined), { offset });
    } else {
      yield { kind: 'skipped', reason: 'not an alert', at: { offset } };
    }
  }
}

function alertOfJson(alert: Members, site: string | undefined): Alert {
  return {
    pluginId: textOf(alert.pluginid),
    alertRef: textOf(alert.alertRef),
    name: textOf(alert.name) ?? textOf(alert.alert),
    riskCode: textOf(alert.riskcode),
    riskWords: textOf(alert.riskdesc),
    confidence: textOf(alert.confidence),
    description: textOf(alert.desc),
    solution: textOf(alert.solution),
    otherInfo: textOf(alert.otherinfo),
    reference: textOf(alert.reference),
    cweId: textOf(alert.cweid),
    tags: listOf(alert.tags)
      .map(membersOf)
      .flatMap(({ tag, link }) => [...textsOf(tag), ...textsOf(link)]),
    instances: listOf(alert.instances).map(membersOf).map(instanceOfJson).filter(hasUri),
    site,
  };
}

function instanceOfJson(instance: Members): Instance {
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
