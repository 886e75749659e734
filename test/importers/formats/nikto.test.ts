import { describe, expect, it } from 'vitest';
import { nikto } from '../../../src/importers/formats/nikto/nikto.ts';
import { identityOf } from '../../../src/importers/finding-identity.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

// `nikto-2.1.5.xml` was made by scripts/fixtures/nikto.ts; the others are written after what the later versions print.
describeFormat(nikto);

const HEAD = '"host":"shop.example","ip":"192.0.2.1","port":"80","banner":""';
const ITEM = '{"id":"1","method":"GET","url":"/","msg":"A"}';
const told = async (text: string) =>
  (await findingsOf(nikto, text)).map(({ rule, title, target }) => [rule, title, target]);
const EXPECTED = [['1', 'A', { url: 'http://shop.example' }]];

describe('a report of Nikto in JSON', () => {
  it.each([
    ['an object', `{${HEAD},"vulnerabilities":[${ITEM}]}`],
    ['an array', `[{${HEAD},"vulnerabilities":[${ITEM}]}]`],
    ['members in another order', `{"vulnerabilities":[${ITEM}],${HEAD}}`],
    ['commas too many', `{${HEAD},"vulnerabilities":[${ITEM},],}`],
    ['braces too many', `{${HEAD},"vulnerabilities":[${ITEM}]}}`],
    ['a backslash before a comma', `[{${HEAD},"vulnerabilities":[\\,${ITEM}]}]`],
    [
      'a number that begins with 0',
      `{${HEAD},"vulnerabilities":[{"id":1,"url":"/","msg":"A","OSVDB":0000}]}`,
    ],
    ['quotes twice', `{${HEAD},"vulnerabilities":[{"id":"1","url":"/","msg":"A","references":""x" y"}]}`],
    ['a byte order mark', `\uFEFF{${HEAD},"vulnerabilities":[${ITEM}]}`],
  ])('is read with %s', async (_what, text) => {
    expect(await told(text)).toEqual(EXPECTED);
  });

  it('is read where others stand behind it, with no comma between them', async () => {
    const other = `{${HEAD.replace('shop', 'blog').replace('"80"', '8443')},"vulnerabilities":[${ITEM}]}`;
    const found = await told(`{${HEAD},"vulnerabilities":[${ITEM}]}\n${other}${other}`);
    expect(found.map(([, , target]) => target)).toEqual([
      { url: 'http://shop.example' },
      { url: 'https://blog.example:8443' },
      { url: 'https://blog.example:8443' },
    ]);
  });

  it('decodes what JSON escapes, and leaves what it does not', async () => {
    const item = String.raw`{"id":"1","url":"/","msg":"\"q\" \u00e9 \ud83d\ude00 \ud800 \\ \/ \s \u12 'x'"}`;
    expect(await told(`{${HEAD},"vulnerabilities":[${item}]}`)).toEqual([
      ['1', String.raw`"q" é 😀 � \ / \s \u12 'x'`, { url: 'http://shop.example' }],
    ]);
  });

  it('without a web server has no finding', async () => {
    const { records } = await readRecords(
      nikto,
      '{"id": "000029","url":"/","msg":"No web server found on localhost:8080"}}',
    );
    expect(records).toMatchObject([{ kind: 'skipped', reason: 'no site' }]);
  });

  it('that breaks off says where, and keeps what came before', async () => {
    const text = `{${HEAD},"vulnerabilities":[${ITEM},{"id":"2","msg`;
    const { records, error } = await readRecords(nikto, text);
    expect(records).toHaveLength(1);
    expect(error).toMatchObject({ message: 'The report is truncated.', location: { offset: text.length } });
  });
});

describe('an item of Nikto', () => {
  it('is the same in XML and JSON, at every URL of the site and in every version', async () => {
    const json = await findingsOf(
      nikto,
      `{${HEAD},"vulnerabilities":[${ITEM},{"id":"1","url":"/b","msg":"B"},{"id":"2","url":"/","msg":"A"}]}`,
    );
    const xml = await findingsOf(
      nikto,
      '<niktoscan version="2.1.5"><scandetails sitename="http://shop.example:80/" siteip="http://192.0.2.1:80/">' +
        '<item id="1"><description>C</description><uri>/c</uri></item></scandetails></niktoscan>',
    );
    const [first, second, other] = json.map((finding) => identityOf(finding, 'nikto'));
    expect(second).toBe(first);
    expect(other).not.toBe(first);
    expect(xml.map((finding) => identityOf(finding, 'nikto'))).toEqual([first]);
  });

  it.each([
    ['/: The header is missing.', '/', 'The header is missing.'],
    ['/:The header is missing.', '/', 'The header is missing.'],
    ['/a.php: Found. See: https://a.example/', '/a.php', 'Found.'],
    ['Server: found.', '/', 'Server: found.'],
    ['/:', '/', '/:'],
  ])('that says %s is called what it found', async (message, uri, title) => {
    const item = JSON.stringify({ id: '1', url: uri, msg: message });
    expect(await findingsOf(nikto, `{${HEAD},"vulnerabilities":[${item}]}`)).toMatchObject([{ title }]);
  });
});
