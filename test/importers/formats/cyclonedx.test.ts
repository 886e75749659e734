import { describe, expect, it } from 'vitest';
import { cyclonedx } from '../../../src/importers/formats/cyclonedx/cyclonedx.ts';
import { identityOf } from '../../../src/importers/targets.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

// The reports follow the CycloneDX schemas and public examples of versions 1.2 to 1.6.
describeFormat(cyclonedx, { readsTwice: true });

const bom = (version: string, members: object = {}) =>
  JSON.stringify({
    vulnerabilities: [{ id: 'CVE-2024-0001', affects: [{ ref: 'c1' }] }],
    components: [{ 'bom-ref': 'c1', name: 'zlib', purl: `pkg:generic/zlib@${version}?arch=x`, version }],
    metadata: { component: { name: 'shop', version } },
    bomFormat: 'CycloneDX',
    ...members,
  });
const identitiesOf = async (report: string) =>
  (await findingsOf(cyclonedx, report)).map((finding) => identityOf(finding, 'cyclonedx'));

describe('Vulnerabilities of CycloneDX', () => {
  it('are the same in other versions of the component and the product, in JSON and XML', async () => {
    const [first] = await identitiesOf(bom('1.2'));
    expect(await identitiesOf(bom('1.3'))).toEqual([first]);
    const xml = `<bom xmlns="http://cyclonedx.org/schema/bom/1.6">
      <vulnerabilities><vulnerability><id>CVE-2024-0001</id><affects><target><ref>c9</ref></target></affects></vulnerability></vulnerabilities>
      <components><component bom-ref="c9"><name>zlib</name><purl>pkg:generic/zlib@9</purl></component></components>
      <metadata><component><name>shop</name></component></metadata></bom>`;
    expect(await identitiesOf(xml)).toEqual([first]);
  });

  it('have the reference as name if it is not a valid package URL', async () => {
    const vulnerabilities = [{ id: 'CVE-2024-0001', affects: [{ ref: 'pkg%3Anpm/100%' }] }];
    const [finding] = await findingsOf(cyclonedx, bom('1', { vulnerabilities }));
    expect(finding?.target).toMatchObject({ package: 'pkg%3Anpm/100%' });
  });

  it('are skipped if their analysis closes them', async () => {
    const states = [
      'resolved',
      'resolved_with_pedigree',
      'false_positive',
      'not_affected',
      'in_triage',
      'exploitable',
    ];
    const vulnerabilities = states.map((state) => ({ id: state, analysis: { state } }));
    const { records } = await readRecords(cyclonedx, bom('1', { vulnerabilities }));
    expect(records.flatMap((record) => (record.kind === 'skipped' ? [record.reason] : []))).toEqual([
      'resolved',
      'resolved',
      'false positive',
      'not affected',
    ]);
    expect(records.filter(({ kind }) => kind === 'finding')).toHaveLength(2);
  });

  it('cover a product whose components the document lists', async () => {
    const coveredTargets = async (report: string) =>
      (await readRecords(cyclonedx, report)).records.filter(({ kind }) => kind === 'covered');
    const all = { kind: 'covered', target: { artifact: 'shop' } };
    expect(await coveredTargets(bom('1'))).toEqual([{ ...all, checks: [''] }]);
    expect(await coveredTargets(bom('1', { vulnerabilities: [] }))).toEqual([{ ...all, checks: [''] }]);
    expect(await coveredTargets(bom('1', { vulnerabilities: undefined }))).toEqual([]);
    expect(await coveredTargets(bom('1', { components: undefined }))).toEqual([]);
    expect(await coveredTargets(bom('1', { metadata: undefined }))).toEqual([]);
  });
});
