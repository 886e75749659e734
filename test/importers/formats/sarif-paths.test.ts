import { describe, expect, it } from 'vitest';
import { sarif } from '../../../src/importers/formats/sarif/sarif.ts';
import { findingsOf } from '../format-harness.ts';

const TOOL = { driver: { name: 'Probe' } };
const report = (run: object) => JSON.stringify({ version: '2.1.0', runs: [run] });
const resultIn = (artifactLocation: object) => ({
  ruleId: 'r',
  message: { text: 'Told.' },
  locations: [{ physicalLocation: { artifactLocation, region: { startLine: 3 } } }],
});

describe('Results of SARIF have paths', () => {
  const pathsOf = async (bases: object, uris: (string | [uri: string, base: string])[], members = {}) => {
    const results = uris.map((path) => {
      const [uri, uriBaseId] = typeof path === 'string' ? [path] : path;
      return resultIn({ uri, uriBaseId });
    });
    const findings = await findingsOf(
      sarif,
      report({ tool: TOOL, results, originalUriBaseIds: bases, ...members }),
    );
    return findings.map(({ target }) => (target as { path: string }).path);
  };
  const OUTER = { uri: 'file:///ci/17/shop/' };

  it('in the base that each names, by the bases to which it is relative', async () => {
    const bases = {
      API: { uri: 'api/', uriBaseId: 'MODULES' },
      MODULES: { uri: 'modules', uriBaseId: 'OUTER' },
      WEB: { uri: '../web/', uriBaseId: 'MODULES' },
      OUTER,
    };
    expect(
      await pathsOf(bases, [
        ['x.c', 'API'],
        ['x.c', 'WEB'],
        ['x.c', 'OUTER'],
        'file:///ci/17/shop/modules/api/x.c',
        ['../x.c', 'API'],
      ]),
    ).toEqual(['modules/api/x.c', 'web/x.c', 'x.c', 'modules/api/x.c', 'modules/x.c']);
  });

  it('in the checked out folder, if a base names it, and else with the name of the base', async () => {
    const uris: [string, string][] = [
      ['x.c', '%SRCROOT%'],
      ['x.c', 'OBJ'],
      ['x.c', 'SDK'],
      ['x.c', 'OTHER'],
    ];
    const inner = { OBJ: { uri: 'file:///ci/17/obj/' }, SDK: { uri: 'file:///usr/sdk/' } };
    const expected = ['x.c', 'obj/x.c', 'SDK/x.c', 'OTHER/x.c'];
    expect(await pathsOf({ ...inner, '%SRCROOT%': { uri: 'file:///ci/17' } }, uris)).toEqual(expected);
    const unknown = { OBJ: { uri: 'obj/', uriBaseId: '%SRCROOT%' }, SDK: {}, '%SRCROOT%': {} };
    expect(await pathsOf(unknown, uris)).toEqual(expected);
    expect(await pathsOf({}, uris.slice(0, 1))).toEqual(['x.c']);
  });

  it('relative to the only base, whatever its name', async () => {
    const uris: (string | [string, string])[] = [['./x.c', 'OUTER'], ['../x.c', 'OUTER'], 'y.c'];
    for (const base of [OUTER, {}, { uri: 'src/' }]) {
      expect(await pathsOf({ OUTER: base }, uris)).toEqual(['./x.c', '../x.c', 'y.c']);
    }
  });

  it('without the longest folder that contains them', async () => {
    const inner = { uri: 'file:///ci/17/' };
    const uri = 'file:///ci/17/src/x.c';
    expect(await pathsOf({ ALL: { uri: 'file:///' }, INNER: inner }, [uri])).toEqual(['src/x.c']);
    expect(await pathsOf({ INNER: inner, ALL: { uri: 'file:///' } }, [uri])).toEqual(['src/x.c']);
    expect(await pathsOf({ HOME: { uri: 'file:///ci/' }, INNER: inner }, [uri])).toEqual(['src/x.c']);
    expect(await pathsOf({ ALL: { uri: 'file:///' } }, [['ci/x.c', 'ALL']])).toEqual(['ci/x.c']);
    const invocations = [
      { workingDirectory: { uri: 'file:///ci/17/src' } },
      { workingDirectory: { uri: 'file:///ci/17/lib' } },
    ];
    expect(await pathsOf({}, [uri, 'file:///usr/x.c'], { invocations })).toEqual(['src/x.c', '/usr/x.c']);
  });

  it('relative to the working folder, also beside bases', async () => {
    const invocations = [{ workingDirectory: { uri: 'file:///ci/17' } }];
    const uris = ['file:///ci/17/src/x.c', 'file:///ci/17/x.c'];
    const among = (uri: string) => pathsOf({ SRCROOT: { uri } }, uris, { invocations });
    expect(await pathsOf({}, uris, { invocations })).toEqual(['src/x.c', 'x.c']);
    expect(await among('file:///ci/17/src/')).toEqual(['x.c', '../x.c']);
    expect(await among('file:///ci/')).toEqual(['17/src/x.c', '17/x.c']);
    const root = { ALL: { uri: 'file:///' } };
    expect(await pathsOf(root, [['usr/x.c', 'ALL'], ...uris], { invocations })).toEqual([
      'usr/x.c',
      'src/x.c',
      'x.c',
    ]);
  });

  it('of bases without an end or in a circle', async () => {
    const bases = { A: { uri: 'a/', uriBaseId: 'B' }, B: { uri: 'b/', uriBaseId: 'A' } };
    const [first, second] = await pathsOf(bases, [
      ['x.c', 'A'],
      ['x.c', 'B'],
    ]);
    expect(first).not.toBe(second);
  });

  it('in the base of their artifact', async () => {
    const artifacts = ['A', 'B'].map((uriBaseId) => ({ location: { uri: 'x.c', uriBaseId } }));
    const results = [0, 1].map((index) => resultIn({ index }));
    const findings = await findingsOf(sarif, report({ results, artifacts, tool: TOOL }));
    expect(findings.map(({ target }) => target)).toEqual([
      { artifact: 'Probe', path: 'A/x.c' },
      { artifact: 'Probe', path: 'B/x.c' },
    ]);
  });
});
