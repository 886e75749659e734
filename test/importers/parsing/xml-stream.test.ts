import { describe, expect, it } from 'vitest';
import { streamXmlMatches } from '../../../src/importers/parsing/xml-stream.ts';
import { ReportError } from '../../../src/importers/report.ts';
import { inChunks } from '../reports.ts';

async function pieces(bytes: string | Uint8Array, paths: string[], size = 65_536) {
  const elements = [];
  let error: ReportError | undefined;
  try {
    for await (const piece of streamXmlMatches(inChunks(bytes, size), { roots: ['report', 'run'], paths })) {
      elements.push(piece);
    }
  } catch (caught) {
    if (!(caught instanceof ReportError)) throw caught;
    error = caught;
  }
  return { found: elements, error };
}

const REPORT = `<?xml version="1.0"?>
<!DOCTYPE report [ <!ELEMENT report (host*)> <!ATTLIST report id CDATA ""> ]>
<x:report xmlns:x="urn:x" id="1">
  <host name="a"><item n="1">one &lt; two<![CDATA[ <b>&amp;</b>]]> end</item><other><item/></other></host>
  <host name="b">
    <item n="2"><x:title>T</x:title><text>long</text></item>
  </host>
</x:report>`;

describe('streamXmlMatches', () => {
  it.each([
    ['XML 1.1', '<?xml version="1.1"?>\n<report><item>a</item></report>', 2],
    [
      'blank lines before the declaration',
      '\n \r\n<?xml version="1.0"?>\n<report><item>a</item></report>',
      4,
    ],
    [
      'a comment before the declaration',
      '<!-- x -->\n<?xml version="1.0"?><report><item>a</item></report>',
      2,
    ],
    [
      'an instruction before the declaration',
      '<?a b?>\n<?xml version="1.0"?><report><item>a</item></report>',
      2,
    ],
    ['comments after the root', '<report><item>a</item></report><!-- x -->\n<?a b?>\n', 1],
    ['control characters', '<report>\n\x01\x0b<item a="\x02">a</item></report>', 2],
  ])('reads %s', async (_what, report, line) => {
    for (const size of [1, 65_536]) {
      const { found, error } = await pieces(report, ['report.item'], size);
      expect(error).toBeUndefined();
      expect(found).toMatchObject([{ element: { text: 'a' }, line }]);
    }
  });

  it('reads an encoding that is declared after blank lines', async () => {
    const report = '\n<?xml version="1.0" encoding="ISO-8859-1"?><report><item>\xe9</item></report>';
    const { found } = await pieces(Buffer.from(report, 'latin1'), ['report.item']);
    expect(found).toMatchObject([{ element: { text: '\xe9' } }]);
  });

  it('yields elements with their text and their ancestors', async () => {
    const { found, error } = await pieces(REPORT, ['report.host.item']);
    expect(error).toBeUndefined();
    expect(found).toHaveLength(2);
    expect(found[0]).toEqual({
      path: 'report.host.item',
      element: { name: 'item', attributes: { n: '1' }, children: [], text: 'one < two <b>&amp;</b> end' },
      ancestors: [
        { name: 'report', attributes: { 'xmlns:x': 'urn:x', id: '1' } },
        { name: 'host', attributes: { name: 'a' } },
      ],
      line: 4,
    });
    expect(found[1]?.element.children.map(({ name, text }) => [name, text])).toEqual([
      ['title', 'T'],
      ['text', 'long'],
    ]);
    expect(found[1]?.ancestors[0]).toBe(found[0]?.ancestors[0]);
    for (const size of [1, 3])
      expect(await pieces(REPORT, ['report.host.item'], size)).toEqual({ found, error });
  });

  it('yields elements of any of the paths, but not nested ones', async () => {
    const { found } = await pieces(REPORT, ['report.host', 'report.host.item', '*.*.other']);
    expect(found.map(({ path }) => path)).toEqual(['report.host', 'report.host']);
    expect((await pieces(REPORT, ['*.*.other'])).found).toHaveLength(1);
  });

  it('yields the start of an element that is too large to match, also of an empty one', async () => {
    const report = '<report><host name="a"><item/></host>\n<host name="b"/></report>';
    const elements = [];
    const options = { roots: ['report'], begins: ['report.host'], paths: ['report.host.item'] };
    for await (const piece of streamXmlMatches(inChunks(report, 7), options)) elements.push(piece);
    expect(elements.map(({ path, element, line }) => [path, element.attributes.name, line])).toEqual([
      ['report.host', 'a', 1],
      ['report.host.item', undefined, 1],
      ['report.host', 'b', 2],
    ]);
    expect(elements[0]).toMatchObject({
      element: { children: [], text: '' },
      ancestors: [{ name: 'report' }],
    });
  });

  it('yields the end of an element after its content, but not at a truncation', async () => {
    const report = '<report><host name="a"><item/></host><host name="b"><item/></host></report>';
    const options = { roots: ['report'], ends: ['report.host'], paths: ['report.host.item'] };
    const endsOf = async (text: string) => {
      const elements: unknown[] = [];
      const read = async () => {
        for await (const { path, element } of streamXmlMatches(inChunks(text), options))
          elements.push([path, element.attributes.name]);
      };
      await read().catch((error: unknown) => expect(error).toBeInstanceOf(ReportError));
      return elements;
    };
    const document = [
      ['report.host.item', undefined],
      ['report.host', 'a'],
      ['report.host.item', undefined],
      ['report.host', 'b'],
    ];
    expect(await endsOf(report)).toEqual(document);
    expect(await endsOf(report.slice(0, -16))).toEqual(document.slice(0, 3));
    expect(await endsOf(report.replace(/<.host><.report>$/, '</hos></report>'))).toEqual(
      document.slice(0, 3),
    );
  });

  it.each<[string, string, RegExp]>([
    ['another root', '<html/>', /begins with <html>.* <report> or <run>/],
    ['nothing', '', /empty/],
    ['an entity of its own', '<!DOCTYPE report [<!ENTITY a "b">]><report/>', /defines entities/],
    ['an entity that is none', '<report><host/>&nbsp;</report>', /undefined entity/],
    ['a cut', '<report><host/><host>', /is truncated/],
    ['a cut within a tag', '<report><host/><ho', /is truncated/],
    ['a wrong end', '<report><host/><host></hosts></report>', /unexpected close tag/],
    [
      'much in one element',
      `<report><host/><host>${'<a b="12345678"/>'.repeat(500_000)}</host></report>`,
      /more than/,
    ],
    [
      'one long text',
      `<report><host/><host>${'x'.repeat(9_000_000)}</host></report>`,
      /No tag ends within|more than/,
    ],
    ['depth', `<report><host/>${'<a>'.repeat(10_000)}`, /64 levels deep/],
  ])('fails at %s', async (_what, text, message) => {
    const { found, error } = await pieces(text, ['report.host']);
    expect(error?.message).toMatch(message);
    expect(found).toHaveLength(text.includes('<host/>') ? 1 : 0);
  });

  it('yields valid text for any bytes', async () => {
    const text = async (bytes: string | Uint8Array) =>
      (await pieces(bytes, ['run.a'], 3)).found[0]?.element.text ?? '';
    const latin = '<?xml version="1.0" encoding="ISO-8859-1"?><run><a>é</a></run>';
    expect(await text(Buffer.from(latin, 'latin1'))).toBe('é');
    expect(await text(Buffer.from('\uFEFF<run><a>é</a></run>', 'utf16le'))).toBe('é');
    expect(await text('\uFEFF<run><a>é</a></run>')).toBe('é');
    expect(
      await text(Buffer.from([...Buffer.from('<run><a>x'), 0xff, 0xe9, ...Buffer.from('</a></run>')])),
    ).toBe('x\uFFFD\uFFFD');
    expect(await text('<run><a>\0\x1b&#0;&#xD800;</a></run>')).toBe('\0\x1b&#0;&#xD800;');
  });
});
