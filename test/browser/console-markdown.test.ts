import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { useSharedConsole } from '../harness/console.ts';

const NOTICE = 'Shown as plain text: too long or too deep to lay out';

/**
 * Texts within the limits of the API that keep a parser busy for minutes, overflow its stack, or fill a page with
 * elements.
 */
const HOSTILE = {
  emphasis: '*a_'.repeat(21_000),
  quotes: '>'.repeat(30_000),
  lists: `${'- '.repeat(30_000)}deep`,
  nested: `${'> '.repeat(150)}deep`,
  table: `${'|a'.repeat(16_000)}|\n${'|-'.repeat(16_000)}|`,
  code: '`a``'.repeat(16_000),
  images: '![](attachment:1)'.repeat(3_800),
};

describeInBrowser('Console: Markdown', () => {
  const assay = useSharedConsole();

  const create = async (members: object): Promise<number> => {
    const created = await assay.call('admin', 'POST', '/v1/vulnerabilities', {
      assessment_id: assay.demo().assessment.uid,
      severity: 'High',
      title: 'With texts',
      ...members,
    });
    return created.id;
  };
  const comment = (id: number, text: string) =>
    assay.call('admin', 'POST', `/v1/vulnerabilities/${id}/comments`, { text });
  const commentsOf = (page: Page) => page.getByRole('article', { name: 'Comment by' });

  it.each(Object.entries(HOSTILE))(
    'shows hostile %s as plain text, and the page answers',
    async (_name, text) => {
      const id = await create({ description: text, impact: 'Some **impact**.' });
      await comment(id, text);
      await comment(id, 'A **remark**.');
      const page = await assay.enter('admin', `/vulnerabilities/${id}`);
      // The ordinary text does not wait for the slow one.
      await page.locator('strong', { hasText: 'impact' }).waitFor();
      await commentsOf(page).first().waitFor();
      await expect.poll(() => page.getByText(NOTICE).count()).toBe(2);
      expect(await commentsOf(page).first().textContent()).toContain(text.slice(0, 10_000));
      await page.locator('strong', { hasText: 'remark' }).waitFor();
      await page.getByRole('list', { name: 'Discussion' }).getByText('reported it').waitFor();
    },
  );

  it('lays out the next text after one whose parser error is not a RangeError', async () => {
    const id = await create({
      description: HOSTILE.quotes,
      // Longer than the other text, which is thus parsed first.
      impact: `Some **impact**. ${'word '.repeat(HOSTILE.quotes.length / 5)}`,
    });
    const page = await assay.enter('admin', '/vulnerabilities');
    await page.route(/markdown-worker/, async (route) => {
      const response = await route.fetch();
      // Simulates Firefox, where a stack overflow is an InternalError.
      const body = `globalThis.RangeError = class extends Error {};\n${await response.text()}`;
      await route.fulfill({ response, body });
    });
    await page.goto(`/vulnerabilities/${id}`);
    const notice = page.getByText('Shown as plain text');
    await notice.first().waitFor();
    expect(await notice.allTextContents()).toEqual([NOTICE]);
    await page.locator('strong', { hasText: 'impact' }).waitFor();
  });

  it('lays out ordinary texts after a hostile one', async () => {
    const id = await create({
      description: HOSTILE.emphasis,
      impact: [
        '# Heading',
        'A paragraph with _emphasis_, ~~deleted~~ and `code`, &Auml;, <b>HTML</b> and a note[^1].',
        '- one\n  - two\n    - three',
        '> quoted',
        '- [x] done',
        '```sh\nls\n```',
        '| a | b |\n| :- | -: |\n| 1 | 2 |',
        '[safe](https://acme.example/) [unsafe](javascript:alert(1)) www.acme.example ![remote](https://acme.example/a.png)',
        '[^1]: The note.',
      ].join('\n\n'),
    });
    const page = await assay.enter('admin', `/vulnerabilities/${id}`);
    await page.getByText(NOTICE).waitFor();
    const impact = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Impact' }) });
    await impact.getByRole('heading', { name: 'Heading' }).waitFor();
    expect(await impact.getByText('A paragraph').innerHTML()).toMatch(
      /^A paragraph with <em>emphasis<\/em>, <del>deleted<\/del> and <code>code<\/code>, Ä, &lt;b&gt;HTML&lt;\/b&gt; and a note<sup>/,
    );
    expect(await impact.locator('li li li').textContent()).toBe('three');
    expect(await impact.locator('blockquote').textContent()).toContain('quoted');
    expect(await impact.getByRole('checkbox').isChecked()).toBe(true);
    expect(await impact.locator('pre code').getAttribute('class')).toBe('language-sh');
    expect(
      await impact.getByRole('region', { name: 'Table' }).locator('td').last().getAttribute('style'),
    ).toBe('text-align: right;');
    const links = impact.locator('p').filter({ hasText: 'unsafe' }).locator('a');
    expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual([
      'https://acme.example/',
      '',
      'http://www.acme.example',
    ]);
    expect(await impact.locator('img').count()).toBe(0);
    expect(await impact.getByText('remote').textContent()).toContain('remote');
    await expectAccessible(page, page.getByText(NOTICE));
  });

  it('shows headings of a text below and smaller than those of its section', async () => {
    const id = await create({ description: '# One\n\nText\n\n## Two\n\n###### Six' });
    const page = await assay.enter('admin', `/vulnerabilities/${id}`);
    const sizeOf = (name: string, level: number) =>
      page
        .getByRole('heading', { name, level })
        .evaluate((heading) => Number.parseFloat(getComputedStyle(heading).fontSize));
    const sizes = [
      await sizeOf('Description', 2),
      await sizeOf('One', 3),
      await sizeOf('Two', 4),
      await sizeOf('Six', 6),
    ] as const;
    expect(sizes[0]).toBeGreaterThan(sizes[1]);
    expect(sizes[1]).toBeGreaterThan(sizes[2]);
    expect(sizes[2]).toBe(sizes[3]);
  });

  it('says which evidence is a request, a response or both', async () => {
    const request = 'GET /a HTTP/1.1\r\nHost: a.example';
    const response = 'HTTP/1.1 200 OK\r\n\r\n<p>a</p>';
    const id = await create({
      http_requests: [request, response, `${request}\n\n${response}`, `${request}\r\n\r\nHTTP`, 'seen'],
    });
    const page = await assay.enter('admin', `/vulnerabilities/${id}`);
    const captions = page.locator('figcaption > b');
    await captions.first().waitFor();
    expect(await captions.allInnerTexts()).toEqual([
      'Request',
      'Response',
      'Request and response',
      'Request',
      'Evidence',
    ]);
  });
});
