import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSOLE_PATHS } from '../../src/page-kit/paths.ts';
import { useConsole } from '../harness/console.ts';
import { describeInFirefox, type Firefox, launchFirefox } from '../harness/firefox.ts';
import { uploadReport, waitForImport } from '../harness/imports.ts';
import { nucleiReport } from '../harness/nuclei.ts';
import { WAIT_TIMEOUT } from '../harness/timeouts.ts';

interface PageOf {
  heading: string | RegExp;
  /** A selector of loaded content. */
  content?: string;
}

const ROW = '[role=row] + [role=row]';
const LINK_IN_ROW = '[role=row] a';
const TAB = 'main [role=tab]';

/** The pages; a name in braces stands for a value of the demo data. */
const PAGES: Readonly<Record<string, PageOf>> = {
  '/': { heading: 'Home', content: 'main a' },
  '/vulnerabilities': { heading: 'Vulnerabilities', content: LINK_IN_ROW },
  '/vulnerabilities?open={vulnerability}': { heading: 'Vulnerabilities', content: 'aside h2' },
  '/vulnerabilities/new': { heading: /^New / },
  '/vulnerabilities/{vulnerability}': { heading: /./ },
  '/vulnerabilities/{vulnerability}/edit': { heading: /^Edit / },
  '/assessments': { heading: 'Assessments', content: LINK_IN_ROW },
  '/assessments/{assessment}': { heading: 'Web programme 2026', content: LINK_IN_ROW },
  '/assets': { heading: 'Assets', content: LINK_IN_ROW },
  '/assets/{asset}': { heading: /./ },
  '/imports': { heading: 'Imports', content: LINK_IN_ROW },
  '/imports/{import}': { heading: /./ },
  '/tags': { heading: 'Tags', content: ROW },
  '/groups': { heading: 'Groups', content: LINK_IN_ROW },
  '/groups/{group}': { heading: 'Web programme', content: ROW },
  '/people': { heading: 'People', content: LINK_IN_ROW },
  '/people/{person}': { heading: 'Helena Brandt' },
  '/audit': { heading: 'Audit log', content: ROW },
  '/account': { heading: 'Your account' },
  '/account/security': { heading: 'Your account' },
  '/account/security/authenticator': { heading: 'Set up an authenticator app' },
  '/account/password': { heading: 'Password' },
  '/account/sessions': { heading: 'Your account' },
  '/account/tokens': { heading: 'Your account' },
  '/account/applications': { heading: 'Your account' },
  '/docs': { heading: /^Assay API/, content: '.opblock-tag' },
};

describe('Pages in Firefox', () => {
  it('are those of the console', () => {
    const folders = Object.keys(PAGES).flatMap((path) => /^\/([a-z]+)$/.exec(path)?.[1] ?? []);
    expect(folders).toEqual(expect.arrayContaining([...CONSOLE_PATHS]));
  });
});

describeInFirefox('Firefox', () => {
  const assay = useConsole();
  let firefox: Firefox;
  let values: Readonly<Record<string, string | number>>;

  beforeAll(async () => {
    const server = assay.server();
    const { assessment, assets, group, users, vulnerability } = assay.demo();
    const { email, password, token = '' } = users.admin;
    const report = nucleiReport([{ rule: 'exposed-panel', name: 'Panel', severity: 'low', at: Date.now() }]);
    const started = await uploadReport(server, token, report, { assessment_id: assessment.uid });
    await waitForImport(server, token, started.body.id);
    values = {
      vulnerability: vulnerability.id,
      assessment: assessment.uid,
      asset: assets.webapp,
      import: started.body.id,
      group: group.id,
      person: users.admin.id,
    };
    firefox = await launchFirefox();
    await firefox.open(`${server.origin}/sign-in`);
    const loaded = firefox.nextLoad();
    await firefox.evaluate(`
      document.querySelector('[name=email]').value = ${JSON.stringify(email)};
      document.querySelector('[name=password]').value = ${JSON.stringify(password)};
      document.querySelector('[name=password]').form.requestSubmit();`);
    expect(await loaded).toBe(`${server.origin}/`);
    await untilLoaded({ heading: 'Home' });
    expect(firefox.takeErrors()).toEqual([]);
  });
  afterAll(() => firefox?.close());

  it.each(Object.entries(PAGES))('opens %s and its tabs without an error', async (path, page) => {
    await firefox.open(assay.server().origin + path.replace(/\{(\w+)\}/, (_, name) => String(values[name])));
    await untilLoaded(page);
    const tabs = Number(await firefox.evaluate(`document.querySelectorAll('${TAB}').length`));
    for (let index = 0; index < tabs; index += 1) {
      await firefox.evaluate(`document.querySelectorAll('${TAB}')[${index}].click()`);
      await untilLoaded({ heading: page.heading, content: '[role=tab][aria-selected=true]' });
    }
    expect(firefox.takeErrors()).toEqual([]);
  });

  /** Waits for the heading and the content of a page, and for its requests. */
  async function untilLoaded({ heading, content = 'main' }: PageOf): Promise<void> {
    const pattern = heading instanceof RegExp ? heading : new RegExp(`^${heading}$`);
    await firefox.evaluate(`new Promise((resolve, reject) => {
      const check = () => {
        if (!${pattern}.test(document.querySelector('h1')?.innerText)) return;
        if (document.querySelector(${JSON.stringify(content)}) === null) return;
        if (document.querySelector('[aria-busy=true]') !== null) return;
        observer.disconnect();
        resolve();
      };
      const observer = new MutationObserver(check);
      observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
      check();
      setTimeout(() => reject(new Error('The page shows: ' + document.body.innerText)), ${WAIT_TIMEOUT});
    })`);
    await firefox.untilIdle();
  }
});
