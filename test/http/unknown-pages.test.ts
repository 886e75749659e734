import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { NOT_FOUND_MESSAGES } from '../../src/page-kit/messages.ts';
import { PAGE_PATHS } from '../../src/page-kit/not-found-page.tsx';
import { useSharedServer } from '../harness/server.ts';

/** The header of Chromium for a navigation. */
const BROWSER =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7';

const server = await useSharedServer();
const open = (path: string, accept = BROWSER) => server.request('GET', path, { headers: { accept } });

/** The path that the page at an unknown path suggests. */
const suggestionAt = async (path: string): Promise<string | undefined> =>
  /Did you mean <a href="([^"]+)"/.exec((await open(path)).text)?.[1];

describe('An unknown path', () => {
  it('is a page for browsers, with links to the main pages', async () => {
    const { status, headers, text: page } = await open('/dashboard');
    expect(status).toBe(404);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toContain("style-src 'self'");
    expect(page).toContain('There is nothing at /dashboard.');
    expect(page).toContain(headers.get('x-request-id'));
    expect(page).not.toContain('Did you mean');
    for (const path of Object.keys(NOT_FOUND_MESSAGES.pages)) expect(page).toContain(`<a href="${path}">`);
    const head = await server.request('HEAD', '/dashboard', { headers: { accept: BROWSER } });
    expect([head.status, head.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  });

  it.each([undefined, '*/*', 'application/json', 'application/problem+json', 'image/png,*/*;q=0.5'])(
    'is a problem for Accept: %s',
    async (accept) => {
      const { status, headers, body } = await server.request('GET', '/vulnerabilites', {
        headers: accept === undefined ? {} : { accept },
      });
      expect([status, headers.get('content-type')]).toEqual([404, 'application/problem+json; charset=utf-8']);
      expect(body.detail).toBe('Nothing exists at /vulnerabilites.');
    },
  );

  it('is a problem in the areas of the API and for other methods than GET', async () => {
    for (const path of ['/v1/vulnerabilites', '/api/asset/v2/none', '/api/tagging/none'])
      expect((await open(path)).headers.get('content-type')).toMatch(/^application\/(problem\+)?json/);
    const { status, headers } = await server.request('POST', '/dashboard', { headers: { accept: BROWSER } });
    expect([status, headers.get('content-type')]).toEqual([404, 'application/problem+json; charset=utf-8']);
  });

  it.each([
    ['/vulnerabilites', '/vulnerabilities'],
    ['/vulnerability', '/vulnerabilities'],
    ['/Vulnerabilities', '/vulnerabilities'],
    ['/vulnerabilites/12?tab=comments', '/vulnerabilities'],
    ['/assesments/', '/assessments'],
    ['/asset', '/assets'],
    ['/tag', '/tags'],
    ['/tokens', '/account/tokens'],
    ['/account/tokns', '/account/tokens'],
    ['/signin', '/sign-in'],
    ['/api-docs', undefined],
    ['/x', undefined],
    ['/settings/x', undefined],
    [`/vulnerabilites${'s'.repeat(8_000)}`, undefined],
  ])('%.40s suggests %s', async (path, suggestion) => {
    expect(await suggestionAt(path)).toBe(suggestion);
  });

  it('is escaped and shortened in the page', async () => {
    // `fetch` would encode the path.
    const request = get(server.origin, {
      path: `/<script>alert("x")</script>&${'x'.repeat(1_000)}`,
      headers: { accept: BROWSER },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const page = await text(response);
    expect(page).toContain('There is nothing at /&lt;script>alert(&quot;x&quot;)&lt;/script>&amp;x');
    expect(page).not.toContain('<script>alert');
    expect(page).not.toContain('x'.repeat(201));
  });

  it('below an account page is the same page', async () => {
    const { status, text: page } = await open('/sign-in/none', '*/*');
    expect([status, page.includes('There is nothing at /sign-in/none.')]).toEqual([404, true]);
  });
});

it('A path that is not a valid URL path is a page for browsers', async () => {
  const { status, headers, text: page } = await open('/100%');
  expect([status, headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
  expect(page).toContain('The path is not a valid URL path.');
  expect((await open('/100%', '*/*')).headers.get('content-type')).toContain('application/problem+json');
  expect((await open('/v1/100%')).headers.get('content-type')).toContain('application/problem+json');
});

it.each(PAGE_PATHS)('%s, which may be suggested, exists', async (path) => {
  expect([200, 302, 303]).toContain((await open(path)).status);
});
