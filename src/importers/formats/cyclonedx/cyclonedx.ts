import { ComponentIndex, recordsOf } from './cyclonedx-findings.ts';
import { readBomXml } from './cyclonedx-xml.ts';
import { collectMatches, streamJsonMatches } from '../../parsing/json-stream.ts';
import { arrayOf, asJsonObject, isJsonObject, type JsonObject, textOf } from '../../parsing/json-values.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { peekStart } from '../../parsing/peek-start.ts';
import type { ByteSource, ReportFormat, ReportRecord } from '../../report.ts';

/**
 * CycloneDX (ECMA-424) 1.2 to 1.7, JSON and XML. Read twice, because components may follow the vulnerabilities that
 * refer to them.
 */
export const cyclonedx: ReportFormat = {
  name: 'cyclonedx',
  title: 'CycloneDX JSON or XML',
  hasFindings: true,
  detect({ json, root }) {
    if (root !== undefined) {
      const namespaces = Object.entries(root.attributes).filter(([name]) => name.startsWith('xmlns'));
      return /(^|:)bom$/.test(root.name) && namespaces.some(([, value]) => value.includes('cyclonedx.org'));
    }
    if (!isJsonObject(json)) return false;
    // The components may come first and be long.
    return (
      json.bomFormat === 'CycloneDX' || arrayOf(json.components).some((one) => 'bom-ref' in asJsonObject(one))
    );
  },
  async *read(source) {
    const { start, all } = await peekStart(source());
    await all[Symbol.asyncIterator]().return?.();
    if (start.startsWith('<')) yield* readBomXml(source);
    else yield* readBomJson(source);
  },
};

const OF_BOM = ['metadata.timestamp', 'metadata.component', 'components.*'];

async function* readBomJson(source: ByteSource): AsyncGenerator<ReportRecord, void> {
  const components = new ComponentIndex();
  let scannedAt: number | undefined;
  let subject: JsonObject = {};
  const failure = await collectMatches(source(), OF_BOM, ({ path, value }) => {
    if (path === 'metadata.timestamp') scannedAt = parseTime(value);
    else if (path === 'metadata.component') {
      subject = asJsonObject(value);
      components.add(subject);
    } else components.addList([value]);
  });
  for await (const { value, offset } of streamJsonMatches(source(), ['vulnerabilities.*'])) {
    const vulnerability = asJsonObject(value);
    const refs = arrayOf(vulnerability.affects).map((one) => textOf(asJsonObject(one).ref));
    if (failure !== undefined && refs.some((ref) => !components.has(ref))) throw failure;
    yield* recordsOf(vulnerability, components, subject, { offset });
  }
  if (scannedAt !== undefined) yield { kind: 'report', scannedAt };
  yield* components.coverage(subject);
}
