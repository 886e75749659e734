import { gatherPieces } from '../../parsing/collect-matches.ts';
import { isObject, listOf, type Members, membersOf, textOf } from '../../parsing/json-values.ts';
import { readJsonPieces } from '../../parsing/json-stream.ts';
import { timeOf } from '../../parsing/parse-time.ts';
import { withFirstCharacter } from '../../parsing/peek-first-character.ts';
import type { Format, ReportSource, ReportRecord } from '../../report.ts';
import { Components, recordsOf } from './cyclonedx-findings.ts';
import { readBomXml } from './cyclonedx-xml.ts';

/**
 * CycloneDX (ECMA-424), JSON and XML, versions 1.2 to 1.7, with the vulnerabilities of its components. Read twice: what
 * they affect may stand behind them.
 */
export const cyclonedx: Format = {
  name: 'cyclonedx',
  title: 'CycloneDX JSON or XML',
  findings: true,
  recognise({ json, root }) {
    if (root !== undefined) {
      const namespaces = Object.entries(root.attributes).filter(([name]) => name.startsWith('xmlns'));
      return /(^|:)bom$/.test(root.name) && namespaces.some(([, value]) => value.includes('cyclonedx.org'));
    }
    return isObject(json) && json.bomFormat === 'CycloneDX';
  },
  async *read(source) {
    const { first, all } = await withFirstCharacter(source());
    // Only looked at.
    await all[Symbol.asyncIterator]().return?.();
    if (first === '<') yield* readBomXml(source);
    else yield* readBomJson(source);
  },
};

const OF_BOM = ['metadata.timestamp', 'metadata.component', 'components.*'];

async function* readBomJson(source: ReportSource): AsyncGenerator<ReportRecord, void> {
  const components = new Components();
  let scannedAt: number | undefined;
  let subject: Members = {};
  const failure = await gatherPieces(source(), OF_BOM, ({ path, value }) => {
    if (path === 'metadata.timestamp') scannedAt = timeOf(value);
    else if (path === 'metadata.component') {
      subject = membersOf(value);
      components.add(subject);
    } else components.addList([value]);
  });
  for await (const { value, offset } of readJsonPieces(source(), ['vulnerabilities.*'])) {
    const vulnerability = membersOf(value);
    const refs = listOf(vulnerability.affects).map((one) => textOf(membersOf(one).ref));
    if (failure !== undefined && refs.some((ref) => !components.has(ref))) throw failure;
    yield* recordsOf(vulnerability, components, subject, { offset });
  }
  if (scannedAt !== undefined) yield { kind: 'report', scannedAt };
  yield* components.coverage(subject);
}
