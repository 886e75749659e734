import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { trivy } from '../../../src/importers/formats/trivy/trivy.ts';
import { identityOf } from '../../../src/importers/targets.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

// The reports follow the types of Trivy and public examples of versions 0.9 to 0.60.
describeFormat(trivy, { readsTwice: true });

const image = (artifact: string, version: string) =>
  JSON.stringify({
    Results: [
      {
        Vulnerabilities: [{ VulnerabilityID: 'CVE-2024-0001', PkgName: 'zlib', InstalledVersion: version }],
        Target: `${artifact} (debian ${version})`,
        Class: 'os-pkgs',
      },
    ],
    ArtifactName: artifact,
    SchemaVersion: 2,
  });
const identitiesOf = async (report: string) =>
  (await findingsOf(trivy, report)).map((finding) => identityOf(finding, 'trivy'));

describe('Findings of Trivy', () => {
  it('are the same in another build of an image, and differ by image', async () => {
    const digest = (letter: string) => `registry.example/shop@sha256:${letter.repeat(64)}`;
    const [first] = await identitiesOf(image(digest('a'), '12.1'));
    expect(await identitiesOf(image(digest('b'), '12.2'))).toEqual([first]);
    expect(await identitiesOf(image('registry.example/other', '12.1'))).not.toEqual([first]);
  });

  it.each(['alpine 3.10.2', 'amazon 2 (Karoo)', 'opensuse.leap 15.1', 'suse linux enterprise server 12.4'])(
    'are those of the image before version 0.20, which named it with its system in the target (%s)',
    async (system) => {
      const report = (target: string) =>
        JSON.stringify([
          {
            Target: target,
            Vulnerabilities: [{ VulnerabilityID: 'CVE-2024-0001', PkgName: 'zlib', InstalledVersion: '1' }],
          },
        ]);
      const [finding] = await identitiesOf(report(`registry.example/shop:1 (${system})`));
      expect([finding]).toEqual(await identitiesOf(report('registry.example/shop:1 (debian 9.8)')));
    },
  );

  it('are one for a package in two paths, and one per target', async () => {
    const findings = await findingsOf(
      trivy,
      readFileSync(new URL('../../fixtures/trivy/image.json', import.meta.url)),
    );
    const lodash = findings.filter(({ rule }) => rule === 'CVE-2021-23337');
    expect(lodash).toHaveLength(2);
    expect(new Set(lodash.map((finding) => identityOf(finding, 'trivy'))).size).toBe(1);
  });

  it('are the same for the old and the new id of a check', async () => {
    const check = (names: object) =>
      JSON.stringify({
        ArtifactName: '.',
        SchemaVersion: 2,
        Results: [
          { Target: 'Dockerfile', Class: 'config', Misconfigurations: [{ Status: 'FAIL', ...names }] },
        ],
      });
    const rules = await Promise.all(
      [{ ID: 'DS002', AVDID: 'AVD-DS-0002' }, { ID: 'DS-0002' }, { ID: 'DS002' }].map(async (names) =>
        (await findingsOf(trivy, check(names))).map(({ rule }) => rule),
      ),
    );
    expect(rules).toEqual([['DS-0002'], ['DS-0002'], ['DS-0002']]);
  });

  it('keep the lines of code, and the Markdown of advisories', async () => {
    const lines = ['resource "a" {', '', '  acl = 1', '}'].map((Content) => ({ Content }));
    const results = [
      {
        Target: 'a.tf',
        Misconfigurations: [{ ID: 'AVD-1', Status: 'FAIL', CauseMetadata: { Code: { Lines: lines } } }],
      },
      {
        Target: 'b.lock',
        Vulnerabilities: [
          { VulnerabilityID: 'GHSA-1', PkgName: 'b', Description: '### Impact\n`b` is *bad*.' },
          { VulnerabilityID: 'CVE-1', PkgName: 'b', Description: 'b *is*\n  bad.' },
        ],
      },
    ];
    const report = JSON.stringify({ SchemaVersion: 2, ArtifactName: 'a', Results: results });
    expect(await findingsOf(trivy, report)).toMatchObject([
      { evidence: ['resource "a" {\n\n  acl = 1\n}'] },
      { description: '### Impact\n`b` is *bad*.' },
      { description: 'b \\*is\\* bad.' },
    ]);
  });

  it('never contain a secret', async () => {
    const report = readFileSync(new URL('../../fixtures/trivy/image.json', import.meta.url), 'utf8');
    expect(report).toContain('not-masked-at-all');
    expect(JSON.stringify(await readRecords(trivy, report))).not.toContain('not-masked-at-all');
  });

  it.each([
    ['nothing', null, []],
    [
      'the classes of its results',
      [{ Target: 'alpine:3.20 (alpine 3.20.1)', Class: 'os-pkgs' }],
      ['os-pkgs'],
    ],
    [
      'several classes',
      [
        { Target: 'a', Class: 'lang-pkgs', Vulnerabilities: [] },
        { Target: 'b', Class: 'config' },
      ],
      ['lang-pkgs', 'config'],
    ],
  ])('are none in a clean artifact, of which the report covers %s', async (_what, results, checks) => {
    const clean = JSON.stringify({ SchemaVersion: 2, ArtifactName: 'alpine:3.20', Results: results });
    expect((await readRecords(trivy, clean)).records).toEqual(
      checks.length === 0 ? [] : [{ kind: 'covered', target: { artifact: 'alpine:3.20' }, checks }],
    );
  });
});
