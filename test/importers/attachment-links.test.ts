import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';
import { describe, expect, it } from 'vitest';
import { splitEvidence } from '../../console/src/components/embedded-images.ts';
import { normalizeFinding } from '../../src/importers/normalize-finding.ts';

const processor = unified().use(remarkParse).use(remarkGfm).use(remarkRehype);
const addressesOf = (markdown: string): string[] =>
  [...JSON.stringify(processor.runSync(processor.parse(markdown))).matchAll(/"(?:href|src)":"([^"]*)/g)].map(
    ([, address = '']) => address,
  );
const normalized = (text: string) =>
  normalizeFinding({
    rule: '1',
    title: 'A',
    severity: 'High',
    description: text,
    impact: text,
    recommendedFix: text,
    evidence: [text],
  });

/** Characters of an address that Markdown reads as `attachment:12` or `attachment:new-1`. */
const ADDRESSES = [
  'attachment:12',
  'ATTACHMENT:12',
  'attachment\\:12',
  'attachment&#58;12',
  'attachment&colon;12',
  '&#x61;ttachment:12',
  'attachment:&#49;2',
  'attachment\\:&#0049;2',
  'attachment:new-1',
  'attachment&colon;new-1',
  'attachment:new\\-1',
  'attachment:&#110;ew-1',
];
const LINKS = [
  '![a](§)',
  '[a](§)',
  '![a](<§>)',
  '![a]( § "b")',
  '![a][b]\n\n[b]: §',
  '![a][b]\n\n[b]:\n<§>',
  '<§>',
];

describe('A report that names attachments', () => {
  it.each(ADDRESSES)('links none as %s', (address) => {
    for (const link of LINKS) {
      const { description, impact, recommendedFix } = normalized(link.replace('§', address));
      for (const text of [description, impact, recommendedFix])
        expect(addressesOf(text).filter((one) => /^attachment:(?:\d|new-)/i.test(one))).toEqual([]);
    }
  });

  it('shows none in its evidence, and keeps the text', () => {
    const { evidence } = normalized('a ![b](attachment:12)![](attachment:13) &#58;');
    expect(evidence).toEqual(['a ![b](attachment: 12)![](attachment: 13) &#58;']);
    expect(evidence.flatMap(splitEvidence)).toEqual([{ text: evidence[0] }]);
  });

  it('keeps other texts', () => {
    const text = 'Content-Disposition: attachment; [a](https://a.example/?a=1&amp;b=2) R&D attachment: 12';
    expect(normalized(text)).toMatchObject({ description: text, impact: text, evidence: [text] });
  });
});
