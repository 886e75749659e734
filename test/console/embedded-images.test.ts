import { describe, expect, it } from 'vitest';
import { splitEvidence, stripImages } from '../../console/src/components/embedded-images.ts';
import { isLinear } from '../harness/growth.ts';

describe('Console: images in texts', () => {
  it('are parts of evidence', () => {
    expect(splitEvidence('before\n![a form](attachment:12) \n![](attachment:13)after')).toEqual([
      { text: 'before\n' },
      { text: 'a form', attachmentId: 12 },
      { text: '', attachmentId: 13 },
      { text: 'after' },
    ]);
  });

  it('stay text after the first 200 of a piece of evidence', () => {
    const parts = splitEvidence('![](attachment:1)'.repeat(203));
    expect(parts.filter(({ attachmentId }) => attachmentId !== undefined)).toHaveLength(200);
    expect(parts.at(-1)).toEqual({ text: '![](attachment:1)'.repeat(3) });
  });

  it('are removed', () => {
    expect(stripImages('a ![b](attachment:1) c [d](attachment:2) ![e](attachment:new-3)')).toBe(
      'a  c [d](attachment:2) ',
    );
    expect(stripImages('![b](attachment:1)![e](attachment:new-3)', 'new-')).toBe('![b](attachment:1)');
  });

  it.each([
    ['evidence', splitEvidence],
    ['a copied text', stripImages],
  ])('are found in linear time in %s', (_name, find) => {
    for (const prefix of ['![', '![](attachment:', '![a]'])
      expect(
        isLinear(
          (text) => find(text),
          (length) => prefix.repeat(Math.ceil(length / prefix.length)),
        ),
      ).toBe(true);
  });
});
