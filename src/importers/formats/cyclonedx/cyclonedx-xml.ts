import { type JsonObject } from '../../parsing/json-values.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { streamXmlMatches, type XmlElement } from '../../parsing/xml-stream.ts';
import { ReportError, type ReportRecord, type ByteSource } from '../../report.ts';
import { ComponentIndex, recordsOf } from './cyclonedx-findings.ts';

const OF_BOM = ['bom.metadata.timestamp', 'bom.metadata.component', 'bom.components.component'];
/** Before 1.4 vulnerabilities were an extension, also inside components. */
const VULNERABILITIES = [
  'bom.vulnerabilities.vulnerability',
  'bom.components.component.vulnerabilities.vulnerability',
];

/** Converts the XML to the equivalent JSON objects. */
export async function* readBomXml(source: ByteSource): AsyncGenerator<ReportRecord, void> {
  const components = new ComponentIndex();
  let scannedAt: number | undefined;
  let subject: JsonObject = {};
  let failure: ReportError | undefined;
  try {
    for await (const { path, element } of streamXmlMatches(source(), { roots: ['bom'], paths: OF_BOM })) {
      if (path === 'bom.metadata.timestamp') scannedAt = parseTime(element.text.trim());
      else if (path === 'bom.metadata.component') {
        subject = componentOf(element, 0);
        components.add(subject);
      } else components.addList([componentOf(element, 0)]);
    }
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    failure = error;
  }
  const matches = streamXmlMatches(source(), { roots: ['bom'], paths: VULNERABILITIES });
  for await (const { element, ancestors, line } of matches) {
    const componentRef = ancestors.findLast(({ name }) => name === 'component')?.attributes['bom-ref'];
    const vulnerability = vulnerabilityOf(element, componentRef);
    if (failure !== undefined && vulnerability.affects.some(({ ref }) => !components.has(ref))) throw failure;
    yield* recordsOf(vulnerability, components, subject, { line });
  }
  if (scannedAt !== undefined) yield { kind: 'report', scannedAt };
  yield* components.coverage(subject);
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
        ? childrenOf(element, 'components', 'component').map((one) => componentOf(one, depth + 1))
        : [],
  };
}

function vulnerabilityOf(
  element: XmlElement,
  componentRef: string | undefined,
): JsonObject & { affects: { ref: string | undefined }[] } {
  const targets = childrenOf(element, 'affects', 'target').map((target) => ({ ref: textIn(target, 'ref') }));
  const ref = element.attributes.ref ?? componentRef;
  const analysis = childOf(element, 'analysis');
  const source = childOf(element, 'source');
  return {
    id: textIn(element, 'id'),
    source: source === undefined ? undefined : { url: textIn(source, 'url') },
    references: childrenOf(element, 'references', 'reference').map((one) => ({ id: textIn(one, 'id') })),
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
    advisories: childrenOf(element, 'advisories', 'advisory').map((one) => textIn(one, 'url') ?? one.text),
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
