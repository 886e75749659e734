import { Bom } from './bom.ts';
import { recordsOf } from './cyclonedx-findings.ts';
import { readBomXml } from './cyclonedx-xml.ts';
import { collectMatches, type JsonMatch, streamJsonMatches } from '../../parsing/json-stream.ts';
import { arrayOf, asJsonObject, isJsonObject, textOf } from '../../parsing/json-values.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { peekStart } from '../../parsing/encodings.ts';
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
      json.bomFormat === 'CycloneDX' ||
      arrayOf(json.components).some((component) => 'bom-ref' in asJsonObject(component))
    );
  },
  async *read(source) {
    const { start, all } = await peekStart(source());
    await all[Symbol.asyncIterator]().return?.();
    if (start.startsWith('<')) yield* readBomXml(source);
    else yield* readBomJson(source);
  },
};

const OF_BOM = ['metadata.timestamp', 'metadata.component', 'metadata.tools', 'components.*', 'services.*'];

async function* readBomJson(source: ByteSource): AsyncGenerator<ReportRecord, void> {
  const bom = new Bom();
  const take = ({ path, value }: JsonMatch): void => {
    if (path === 'metadata.timestamp') bom.scannedAt = parseTime(value);
    else if (path === 'metadata.component') bom.setSubject(asJsonObject(value));
    else if (path === 'metadata.tools') bom.setTools(value);
    else if (path === 'vulnerabilities') bom.listsVulnerabilities = true;
    else if (path === 'services.*') bom.components.addServices([value]);
    else bom.components.addList([value]);
  };
  const failure = await collectMatches(source(), OF_BOM, take, { begins: ['vulnerabilities'] });
  for await (const { value, offset } of streamJsonMatches(source(), ['vulnerabilities.*'])) {
    const vulnerability = asJsonObject(value);
    const refs = arrayOf(vulnerability.affects).map((target) => textOf(asJsonObject(target).ref));
    if (failure !== undefined && refs.some((ref) => !bom.components.has(ref))) throw failure;
    yield* recordsOf(vulnerability, bom, { offset });
  }
  yield* bom.records();
}
