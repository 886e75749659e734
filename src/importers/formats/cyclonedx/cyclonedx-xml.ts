import { type JsonObject } from '../../parsing/json-values.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { streamXmlMatches, type XmlElement } from '../../parsing/xml-stream.ts';
import { ReportError, type ReportRecord, type ByteSource } from '../../report.ts';
import { Bom } from './bom.ts';
import { recordsOf } from './cyclonedx-findings.ts';

const OF_BOM = [
  'bom.metadata.timestamp',
  'bom.metadata.component',
  'bom.metadata.tools',
  'bom.components.component',
  'bom.services.service',
];
/** Before 1.4 vulnerabilities were an extension, also inside components. */
const VULNERABILITIES = [
  'bom.vulnerabilities.vulnerability',
  'bom.components.component.vulnerabilities.vulnerability',
];

/** Yields the records of a BOM in XML; converts its elements to the equivalent JSON objects first. */
export async function* readBomXml(source: ByteSource): AsyncGenerator<ReportRecord, void> {
  const bom = new Bom();
  let failure: ReportError | undefined;
  const options = { roots: ['bom'], paths: OF_BOM, begins: ['bom.vulnerabilities'] };
  try {
    for await (const { path, element } of streamXmlMatches(source(), options)) {
      if (path === 'bom.metadata.timestamp') bom.scannedAt = parseTime(element.text.trim());
      else if (path === 'bom.metadata.component') bom.setSubject(componentOf(element, 0));
      else if (path === 'bom.metadata.tools') bom.setTools(toolsOf(element));
      else if (path === 'bom.vulnerabilities') bom.listsVulnerabilities = true;
      else if (path === 'bom.services.service') bom.components.addServices([componentOf(element, 0)]);
      else {
        bom.components.addList([componentOf(element, 0)]);
        // Before 1.4 these were extensions of a component.
        if (childOf(element, 'vulnerabilities') !== undefined) bom.listsVulnerabilities = true;
      }
    }
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    failure = error;
  }
  const matches = streamXmlMatches(source(), { roots: ['bom'], paths: VULNERABILITIES });
  for await (const { element, ancestors, line } of matches) {
    const componentRef = ancestors.findLast(({ name }) => name === 'component')?.attributes['bom-ref'];
    const vulnerability = vulnerabilityOf(element, componentRef);
    if (failure !== undefined && vulnerability.affects.some(({ ref }) => !bom.components.has(ref)))
      throw failure;
    yield* recordsOf(vulnerability, bom, { line });
  }
  yield* bom.records();
}

/** A list of tools, or since 1.5 lists of components and services. */
function toolsOf(element: XmlElement): JsonObject[] {
  return element.children
    .flatMap((child) => (child.name === 'tool' ? child : child.children))
    .map((tool) => ({ name: textIn(tool, 'name') }));
}

const MAX_DEPTH = 50;

function componentOf(element: XmlElement, depth: number): JsonObject {
  return {
    'bom-ref': element.attributes['bom-ref'],
    group: textIn(element, 'group'),
    name: textIn(element, 'name'),
    version: textIn(element, 'version'),
    purl: textIn(element, 'purl'),
    components:
      depth < MAX_DEPTH
        ? childrenOf(element, 'components', 'component').map((component) => componentOf(component, depth + 1))
        : [],
    services:
      depth < MAX_DEPTH
        ? childrenOf(element, 'services', 'service').map((service) => componentOf(service, depth + 1))
        : [],
    endpoints: childrenOf(element, 'endpoints', 'endpoint').map(({ text }) => text),
  };
}

function vulnerabilityOf(
  element: XmlElement,
  componentRef: string | undefined,
): JsonObject & { affects: { ref: string | undefined; versions?: JsonObject[] }[] } {
  const targets = childrenOf(element, 'affects', 'target').map((target) => ({
    ref: textIn(target, 'ref'),
    versions: childrenOf(target, 'versions', 'version').map((entry) => ({
      version: textIn(entry, 'version'),
      status: textIn(entry, 'status'),
    })),
  }));
  const ref = element.attributes.ref ?? componentRef;
  const analysis = childOf(element, 'analysis');
  const source = childOf(element, 'source');
  return {
    id: textIn(element, 'id'),
    rejected: textIn(element, 'rejected'),
    source: source === undefined ? undefined : { url: textIn(source, 'url') },
    references: childrenOf(element, 'references', 'reference').map((item) => ({ id: textIn(item, 'id') })),
    ratings: childrenOf(element, 'ratings', 'rating').map(ratingOf),
    cwes: childrenOf(element, 'cwes', 'cwe').map(({ text }) => text),
    description: textIn(element, 'description'),
    detail: textIn(element, 'detail'),
    recommendation:
      textIn(element, 'recommendation') ??
      childrenOf(element, 'recommendations', 'recommendation')
        .map(({ text }) => text.trim())
        .join('\n\n'),
    workaround: textIn(element, 'workaround'),
    advisories: childrenOf(element, 'advisories', 'advisory').map((item) => textIn(item, 'url') ?? item.text),
    analysis: analysis === undefined ? undefined : { state: textIn(analysis, 'state') },
    affects: targets.length > 0 || ref === undefined ? targets : [{ ref }],
  };
}

function ratingOf(element: XmlElement): JsonObject {
  const score = childOf(element, 'score');
  return {
    score: score === undefined ? undefined : (textIn(score, 'base') ?? score.text),
    severity: textIn(element, 'severity'),
    method: textIn(element, 'method'),
    vector: textIn(element, 'vector'),
  };
}

function childOf(element: XmlElement, name: string): XmlElement | undefined {
  return element.children.find((child) => child.name === name);
}

function childrenOf(element: XmlElement, list: string, name: string): readonly XmlElement[] {
  return childOf(element, list)?.children.filter((child) => child.name === name) ?? [];
}

function textIn(element: XmlElement, name: string): string | undefined {
  const text = childOf(element, name)?.text.trim();
  return text === '' ? undefined : text;
}
