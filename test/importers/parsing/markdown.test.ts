import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';
import { codeBlock, markdownToPlainText } from '../../../src/importers/parsing/escape-markdown.ts';
import { describe, expect, it } from 'vitest';
import { detectLayout, streamCsvRows } from '../../../src/importers/parsing/csv-stream.ts';
import {
  bestCvss,
  parseSeverity,
  severityOfScore,
} from '../../../src/importers/parsing/severity-and-cvss.ts';
import { extractCveIds, extractCweIds } from '../../../src/importers/parsing/vulnerability-ids.ts';
import { htmlToMarkdown, htmlToText } from '../../../src/importers/parsing/html-to-markdown.ts';
import { textToMarkdown } from '../../../src/importers/parsing/text-to-markdown.ts';
import { ReportError } from '../../../src/importers/report.ts';
import { seededRandom } from '../../../src/demo/random.ts';
import { inChunks } from '../reports.ts';
import { isLinear } from '../../harness/growth.ts';

describe('HTML as Markdown', () => {
  it.each([
    ['<p>One</p><p>Two<br/>three</p>', 'One\n\nTwo  \nthree'],
    ['<ul><li>a</li><li>b<ol><li>c</li><li>d</li></ol></li></ul>', '- a\n- b\n  1. c\n  2. d'],
    ['<b>bold</b> <i>it</i> <code>x</code>', '**bold** *it* `x`'],
    ['<a href="https://example.com/a?b=1&amp;c=2">here</a>', '[here](https://example.com/a?b=1&c=2)'],
    ['<a href="javascript:alert(1)">here</a> <a href=\'data:x\'>b</a>', 'here b'],
    ['<script>alert(1)</script>x<style>y</style><!-- c -->z', 'xz'],
    ['<pre>a  &lt;b&gt;\n c</pre>after', '```\na  <b>\n c\n```\n\nafter'],
    ['a &lt;script&gt; *b* [c](d) _e_ `f`', 'a &lt;script> \\*b\\* [c\\](d) \\_e\\_ `f`'],
    ['&eacute;&#233;&#xe9;&nope;&#xD800;', 'ééé&amp;nope;\uFFFD'],
    ['5 < 6 and 7 > 6', '5 < 6 and 7 > 6'],
    ['  plain \n text ', 'plain text'],
    ['<h2>Head</h2>text', '## Head\n\ntext'],
    ['<b> spaced </b>out <i></i>', '**spaced** out'],
    ['<code>a_b*c</code> <code>`</code>', '`a_b*c` `` ` ``'],
    ['<a href="https://a.example/x_y">https://a.example/x_y</a>', 'https://a.example/x_y'],
    ['<ol><li><p>a</p><p>b</p></li><li>c<ul><li>d</li></ul></li></ol>', '1. a\n\n   b\n\n2. c\n   - d'],
    ['<p>With:</p><p>    * one *</p><p>    * two</p>', 'With:\n\n- one \\*\n\n- two'],
    ['Found:<br><li>a</li><li>b</li>', 'Found:\n\n- a\n- b'],
    ['<tr><td><b>By:</b></td><td>&nbsp;CA</td></tr><tr><td>To:</td><td>x</td></tr>', '**By:** CA  \nTo: x'],
    ['<pre>```\n</pre># a', '````\n```\n````\n\n\\# a'],
    ['x]<span>(y)</span> &amp;lt;b>', 'x\\](y) &amp;lt;b>'],
    ['<p>unclosed <b>never', 'unclosed **never**'],
  ])('%s', (html, markdown) => {
    expect(htmlToMarkdown(html)).toBe(markdown);
  });

  it.each(['<', '<a ', '<!', '<!--', '&', '<b><i>', '<div>', '<ul><li>', '<p></p>', ' \t', '<pre>', '<?'])(
    'takes linear time for repeated %j',
    (part) => {
      expect(isLinear(htmlToMarkdown, (length) => part.repeat(length / part.length), 200_000)).toBe(true);
    },
  );
});

it('HTML becomes plain text for evidence', () => {
  const html = '<p>The value of <b>q_</b> &amp; <a href="https://a.example/">this</a></p><ul><li>a</li></ul>';
  expect(htmlToText(html)).toBe('The value of q_ & this (https://a.example/)\n\n- a');
});

describe('plain text as Markdown', () => {
  it.each([
    ['An\n  *unencrypted*\n  login.', 'An \\*unencrypted\\* login.'],
    [
      'Flaws:\n\n    - one that\n      goes on\n\n    - two\n      - three\n\n    The end.',
      'Flaws:\n\n- one that goes on\n- two\n  - three\n\nThe end.',
    ],
    // Greenbone removes the indentation of the first item.
    ['- Windows 10\n\n  - Windows 11', '- Windows 10\n- Windows 11'],
    ['• a\n• b', '- a\n- b'],
    ['1. a\n2) b\n7. c', '1. a\n2. b  \n   7\\. c'],
    ['Run:\n\n    sysctl -w a_b=1\n    sysctl -p', 'Run:\n\nsysctl -w a_b=1  \nsysctl -p'],
    ['Title: a\nState: b', 'Title: a  \nState: b'],
    ['Name   Bits\nRC4    128 *', '```\nName   Bits\nRC4    128 *\n```'],
    ['Read:\n```\n*a*\n    b\n```', 'Read:\n\n```\n*a*\n    b\n```'],
    ['# a\n> b\n---\n+ c', '\\# a  \n\\> b  \n\\---  \n\\+ c'],
    ["a_b __c__ `d_e` the `f' and `g'", "a_b \\_\\_c\\_\\_ `d_e` the \\`f' and \\`g'"],
    ['<b> &lt;b> a < b [1] [z](y) ~~z~~', '&lt;b> &amp;lt;b> a < b [1] [z\\](y) \\~\\~z\\~\\~'],
    ['C:\\Windows\\*.* \\', 'C:\\Windows\\\\\\*.\\* \\\\'],
    ['(https://a.example/_b_c, https://a.example/*).', '(https://a.example/_b_c, <https://a.example/>\\*).'],
  ])('%j', (text, markdown) => {
    expect(textToMarkdown(text)).toBe(markdown);
  });

  it('shows every character and no HTML, whatever the text', () => {
    const processor = unified()
      .use(remarkParse)
      .use(remarkGfm)
      .use(remarkRehype, { allowDangerousHtml: true });
    const parts =
      'a|B| |  |\n|\n\n|\n    |*|_|`|~|~~|[|]|(|)|<|>|&lt;|&|# |> |- |1. |---|===|\\|!|^|:|www.a.b|a@b.c|</p>|<b>|<!--|https://a.b/'
        .split('|')
        .concat('|');
    const random = seededRandom(7);
    // List markers and the backticks of code are elements.
    const shown = (text: string) => text.replaceAll(/[\s`]|[-*]|\d\./g, '');
    for (let run = 0; run < 2_000; run += 1) {
      const text = Array.from({ length: 10 }, () => random.pick(parts)).join('');
      const tree = processor.runSync(processor.parse(textToMarkdown(text)));
      const others = elementsOf(tree).filter((name) => !/^(?:p|br|a|code|pre|ul|ol|li)$/.test(name));
      expect({ text, others, shown: shown(shownText(tree)) }).toEqual({
        text,
        others: [],
        shown: shown(text),
      });
    }
  });

  it.each([
    '`',
    '*',
    '- ',
    '1. ',
    ' ',
    '\n',
    ' - a\n',
    '   - a\n  ',
    '```\n',
    '```a\n',
    '[',
    'www.',
    'https://a ',
    '\\',
    'a  b   c\n',
    '~',
    '&',
  ])('takes linear time for repeated %j', (repeated) => {
    expect(
      isLinear(textToMarkdown, (length) => `a${repeated.repeat(length / repeated.length)}b`, 200_000),
    ).toBe(true);
  });

  it('takes linear time for brackets after a URL', () => {
    expect(isLinear(textToMarkdown, (length) => `https://a.example/${')'.repeat(length)}`, 200_000)).toBe(
      true,
    );
  });

  it('returns to plain text', () => {
    const text = 'a *b* __c__ <d> &lt; C:\\_x\nState: https://a.example/*a';
    expect(markdownToPlainText(textToMarkdown(text))).toBe(text);
  });

  it('keeps code when it returns to plain text', () => {
    const code = '`\\.a &lt; <https://a.example>`\n```\n\\*  \nb\n```';
    expect(markdownToPlainText(`\\*a\\* \\\`&lt;\\\` ${code}  \nc`)).toBe(`*a* \`<\` ${code}\nc`);
    expect(isLinear(markdownToPlainText, (length) => '`a``'.repeat(length / 4), 200_000)).toBe(true);
  });

  it('is a block of code that its content cannot end', () => {
    expect(codeBlock('a\r\nb\n')).toBe('```\na\nb\n```');
    expect(codeBlock('x ```` y')).toBe('`````\nx ```` y\n`````');
  });
});

type Tree = { type: string; tagName?: string; value?: string; children?: Tree[] };

function elementsOf(node: unknown): string[] {
  const { type, tagName, children = [] } = node as Tree;
  return [
    ...(type === 'element' ? [tagName ?? ''] : type === 'raw' ? ['raw'] : []),
    ...children.flatMap(elementsOf),
  ];
}

function shownText(node: unknown): string {
  const { value = '', children = [] } = node as Tree;
  return value + children.map(shownText).join('');
}

it('CWE and CVE ids are found in text', () => {
  expect(extractCveIds('cve-2021-44228, CVE-2021-44228 (CVE-2014-0160); CVE-21-1 XCVE-2020-1234')).toEqual([
    'CVE-2021-44228',
    'CVE-2014-0160',
  ]);
  expect(extractCweIds('CWE-79 cwe:89 CWE 079, CWE-ID 22 CWE')).toEqual(['CWE-79', 'CWE-89', 'CWE-22']);
});

describe('parseSeverity', () => {
  it('accepts a word or a score', () => {
    expect(parseSeverity(' HIGH ')).toBe('High');
    expect(parseSeverity('moderate')).toBe('Medium');
    expect(parseSeverity('toString')).toBeUndefined();
    expect(parseSeverity(3)).toBeUndefined();
    expect([0, 0.1, 3.9, 4, 6.9, 7, 8.9, 9, 10].map(severityOfScore)).toEqual([
      'Informational',
      'Low',
      'Low',
      'Medium',
      'Medium',
      'High',
      'High',
      'Critical',
      'Critical',
    ]);
  });
});

describe('bestCvss', () => {
  const V31 = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';
  const V30 = 'CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';
  const V40 = 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:L/VI:N/VA:N/SC:N/SI:N/SA:N';
  const V2 = 'AV:N/AC:L/Au:N/C:P/I:P/A:P';
  it.each([
    [[{ vector: V30 }, { vector: V31 }], { cvssScore: 9.8, cvssVector: V31 }],
    [[{ vector: V31 }, { vector: V40 }], { cvssScore: 6.9, cvssVector: V40 }],
    [[{ vector: V2, score: 7.5 }], { cvssScore: 7.5 }],
    [[{ vector: V2, score: 10 }, { score: '5.3' }], { cvssScore: 5.3 }],
    [[{ score: 9 }, { vector: V30, score: 1 }], { cvssScore: 9.8, cvssVector: V30 }],
    [[{ score: 5, version: '4.0' }, { vector: V31 }], { cvssScore: 5 }],
    [
      [
        { score: 5, version: '2.0' },
        { score: 3, version: 'CVSSv3' },
      ],
      { cvssScore: 3 },
    ],
    [[{ score: 11 }, { score: -1 }, { score: '' }, { score: 'x' }, { vector: 'CVSS:3.1/AV:N' }], {}],
    [[], {}],
  ])('of %j is %j', (claims, best) => {
    expect(bestCvss(claims)).toEqual(best);
  });
});

describe('streamCsv', () => {
  async function rows(bytes: string | Uint8Array, size = 65_536) {
    const tags = [];
    let error: ReportError | undefined;
    try {
      for await (const row of streamCsvRows(inChunks(bytes, size))) tags.push(row);
    } catch (caught) {
      if (!(caught instanceof ReportError)) throw caught;
      error = caught;
    }
    return { found: tags, error };
  }

  it('reads rows by column', async () => {
    const text = '\uFEFFname, note,name\r\n"a ""b"", c","two\r\nlines",x\r\n\r\nshort\n1,2,3,4\n"",d"e,é';
    const columns = ['name', 'note', 'name 2'];
    for (const size of [1, 2, 65_536]) {
      expect(await rows(text, size)).toEqual({
        found: [
          { row: { name: 'a "b", c', note: 'two\r\nlines', 'name 2': 'x' }, columns, line: 3 },
          { row: { name: 'short' }, columns, line: 5 },
          { error: 'row with more columns than the header', line: 6 },
          { row: { name: '', note: 'd"e', 'name 2': 'é' }, columns, line: 7 },
        ],
        error: undefined,
      });
    }
  });

  it('gives each of several columns of a name a name that no other has', async () => {
    const { found } = await rows('Name,Name,Name 2,Name\n1,2,3,4', 65_536);
    expect(found).toEqual([
      {
        row: { Name: '1', 'Name 3': '2', 'Name 2': '3', 'Name 4': '4' },
        columns: ['Name', 'Name 3', 'Name 2', 'Name 4'],
        line: 2,
      },
    ]);
  });

  it('takes as much for a short row as it has fields, whatever the header', async () => {
    const header = Array.from({ length: 1_000 }, (_, index) => `column ${index}`).join(',');
    const { found } = await rows(
      `constructor,__proto__,${header.replace(/,column 998,column 999$/, '')}\n${'a,b\n'.repeat(50)}a`,
    );
    const read = found.flatMap((one) => ('row' in one ? [one] : []));
    expect(read.map(({ row }) => Object.entries(row).flat())).toEqual([
      ...Array.from({ length: 50 }, () => ['constructor', 'a', '__proto__', 'b']),
      ['constructor', 'a'],
    ]);
    expect(read.at(-1)?.row['toString']).toBeUndefined();
    expect(new Set(read.map(({ columns }) => columns)).size).toBe(1);
  });

  it('detects the separator in the first row', async () => {
    const delimiters = ['a,b;c', 'a;b;c,d', 'a\tb', '"a,b";c', 'a', 'sep=;\r\na,b,c', '"sep=|"\na,b'].map(
      (text) => detectLayout(text, () => true).delimiter,
    );
    expect(delimiters).toEqual([',', ';', '\t', ';', ',', ';', '|']);
    expect((await rows('a;b\n1,5;2')).found).toEqual([
      { row: { a: '1,5', b: '2' }, columns: ['a', 'b'], line: 2 },
    ]);
  });

  it('fails if the file is truncated', async () => {
    expect((await rows('')).error?.message).toMatch(/empty/);
    expect(await rows('a,b\n1,2\n"3,4\n')).toMatchObject({
      found: [{ row: { a: '1' } }],
      error: { message: expect.stringMatching(/quote is not closed/), location: { line: 4 } },
    });
    expect((await rows(`a\n1\n${'x'.repeat(5_000_000)}`)).error?.message).toMatch(/more than 4 Mi/);
    expect((await rows(`a\n1\n"${'x\n'.repeat(3_000_000)}`)).found).toHaveLength(1);
    expect((await rows(`${','.repeat(2_000)}\n`)).error?.message).toMatch(/more than 1000 columns/);
  });
});
