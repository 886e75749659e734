import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { expectAccessible, expectAccessibleInAllViews } from '../harness/accessibility.ts';
import { describeInBrowser } from '../harness/browser.ts';
import { editAll, undo, useConsole } from '../harness/console.ts';
import { createFixtures } from '../harness/fixtures.ts';

/** The tab with all findings of the list. */
const ALL = '/vulnerabilities?phase=%5B%22new%22%2C%22open%22%2C%22closed%22%5D';
const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 12, 9);

describeInBrowser('Console: roles', () => {
  const assay = useConsole();

  interface Account {
    id: number;
    uid: string;
    email: string;
    password: string;
  }
  let uid: string;
  let asset: string;
  let reader: Account;
  let developer: Account;
  let member: Account;
  let infra: Account;
  /** A member of the assessment, and a reader of that of the demo. */
  let mixed: Account;
  let operator: Account;
  let group: { id: number };
  /** Reported by staff, and by the organization itself. */
  let ofStaff: number;
  let own: number;
  /** Pending. */
  let retested: number;

  beforeAll(async () => {
    const { organization } = assay.demo();
    const make = createFixtures(assay.server());
    group = await make.group(organization.uid);
    uid = await make
      .assessment(organization.uid, 'assessment-of-roles', group.id)
      .then(() => 'assessment-of-roles');
    const account = (name: string) =>
      make.account({ organization: organization.uid, name, email: `${name}@roles.example` });
    [reader, developer, member, infra, mixed, operator] = [
      await account('reader'),
      await account('developer'),
      await account('member'),
      await account('infra'),
      await account('mixed'),
      await account('operator'),
    ];
    await assay.call('admin', 'PATCH', `/v1/assessments/${uid}/users`, {
      add: [
        { id: reader.id, role: 'assessment_read_only' },
        { id: developer.id, role: 'assessment_developer' },
        member.id,
        mixed.id,
      ],
    });
    await assay.call('admin', 'PATCH', `/v1/assessments/${assay.demo().assessment.uid}/users`, {
      add: [{ id: mixed.id, role: 'assessment_read_only' }],
    });
    await make.member(group.id, infra.uid, 'infra_admin');
    await make.member(group.id, operator.uid, 'assessment_operator');
    const created = await make.asset({ organization: organization.uid });
    asset = created.uid;
    await make.list(uid, asset);
    const report = async (user: 'staff' | 'admin', title: string) => {
      const { id } = await assay.call(user, 'POST', '/v1/vulnerabilities', {
        assessment_id: uid,
        title,
        severity: 'High',
        status_id: 2,
        tag_list: ['of roles'],
        asset_uids: [asset],
      });
      await assay.call(user, 'POST', `/v1/vulnerabilities/${id}/comments`, { text: 'Seen again.' });
      return id as number;
    };
    ofStaff = await report('staff', 'Found by staff');
    own = await report('admin', 'Found by ourselves');
    retested = await report('admin', 'Fixed, they say');
    await assay.call('admin', 'POST', `/v1/vulnerabilities/${retested}/patch_verifications`, {
      message: 'Build 7.',
    });
    await make.testingSession(uid, member.id, START, START + HOUR);
  });

  const facts = (page: Page) => page.getByRole('region', { name: 'Properties' });
  /** The names of all controls in a part of a page, except links, tabs and what only reads. */
  async function controlsOf(part: Locator): Promise<string[]> {
    const names = await part.locator('button, [role=combobox], input, textarea, select').evaluateAll((all) =>
      all
        .filter((one) => one.closest('[role=tab], [role=radiogroup]') === null && one.checkVisibility())
        .map((one) => {
          const visible = one.cloneNode(true) as Element;
          for (const hidden of visible.querySelectorAll('[aria-hidden="true"]')) hidden.remove();
          return (one.getAttribute('aria-label') ?? visible.textContent ?? '').trim();
        }),
    );
    return names.filter((name) => !/^(Copy|Oldest first|Newest first|Download)/.test(name));
  }
  const openVulnerability = async (account: Account, id: number) => {
    const page = await assay.enterAs(account, `/vulnerabilities/${id}`);
    await page.getByRole('heading', { level: 1 }).filter({ hasText: /^F/ }).waitFor();
    await page
      .getByRole('article', { name: /^Comment by/ })
      .first()
      .waitFor();
    return page;
  };
  const statusOptions = async (page: Page) => {
    await facts(page).locator('[data-change=status]').click();
    const options = page.getByRole('menuitem');
    await options.first().waitFor();
    const names = await options.allTextContents();
    await page.keyboard.press('Escape');
    await options.first().waitFor({ state: 'detached' });
    return names;
  };

  it('shows a reader values in place of controls', async () => {
    const page = await openVulnerability(reader, own);
    expect(await controlsOf(page.getByRole('main'))).toEqual([]);
    await facts(page).getByText('Pending fix').waitFor();
    await facts(page).getByText('Unassigned').waitFor();
    await facts(page).getByText('No due date').waitFor();
    await facts(page).getByText('of roles').waitFor();
    expect(await page.getByRole('region', { name: 'Files' }).count()).toBe(0);
    expect(await page.getByText('Only staff can edit').count()).toBe(0);
    for (const key of ['s', 'e', 'a', 't', 'd', 'c', 'E', '.']) await page.keyboard.press(key);
    expect(await page.getByRole('menuitem').count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe(`/vulnerabilities/${own}`);
    await expectAccessibleInAllViews(page);

    await page.goto(`/vulnerabilities/${own}/edit`);
    await page.getByText('You cannot edit this finding').waitFor();
    await page.getByText('Your role in its assessment does not permit it.').waitFor();
    await expectAccessible(page);
    await page.goto('/vulnerabilities/new');
    await page.getByText('You cannot create findings').waitFor();
    await expectAccessible(page);
  });

  it('offers a developer comments, open statuses, the assignee and the due date', async () => {
    const page = await openVulnerability(developer, own);
    expect(await controlsOf(facts(page))).toEqual(['Pending fix', 'Unassigned', 'No due date']);
    expect(await statusOptions(page)).toEqual([
      'Pending review',
      'Pending fix',
      'Fix in progress',
      'Pending verification',
    ]);
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    await page.getByRole('textbox', { name: 'Comment', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'More actions' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Start fix' }).waitFor();
    await expectAccessibleInAllViews(page);
    await facts(page).locator('[data-change=status]').click();
    await page.getByRole('menuitem', { name: 'Fix in progress' }).click();
    await facts(page).getByRole('button', { name: 'Fix in progress' }).waitFor();
    await page.getByText('Fix in progress: 1 finding updated').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await facts(page).getByRole('button', { name: 'Pending fix' }).waitFor();
  });

  it('says that staff reported a vulnerability, and does not offer members to edit it', async () => {
    const page = await openVulnerability(member, ofStaff);
    await page.getByText('Reported by staff').waitFor();
    await page.getByText('Only staff can edit or delete it').waitFor();
    expect(await controlsOf(facts(page))).toEqual([
      'Pending fix',
      'Unassigned',
      'No due date',
      'Remove tag of roles',
      'Add tags',
    ]);
    expect(await page.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Create similar' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Edit title' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('menuitem').first().waitFor({ state: 'detached' });
    expect(await statusOptions(page)).toHaveLength(9);
    await expectAccessibleInAllViews(page);
    await page.goto(`/vulnerabilities/${ofStaff}/edit`);
    await page.getByText('Staff reported it, so only staff can edit it.').waitFor();

    const admin = await assay.enter('admin', `/vulnerabilities/${ofStaff}`);
    await admin.getByText('Only staff can edit or delete it').waitFor();
    await admin.getByRole('button', { name: 'More actions' }).click();
    await admin.getByRole('menuitem', { name: 'Create similar' }).waitFor();
    expect(await admin.getByRole('menuitem', { name: 'Delete' }).count()).toBe(0);
    const staff = await assay.enter('staff', `/vulnerabilities/${ofStaff}`);
    await staff.getByText('Reported by staff').waitFor();
    await staff.getByRole('link', { name: 'Edit', exact: true }).waitFor();
    expect(await staff.getByText('Only staff can edit').count()).toBe(0);
  });

  it('does not offer admins to delete comments of staff', async () => {
    const page = await assay.enter('admin', `/vulnerabilities/${ofStaff}`);
    const comment = page.getByRole('article', { name: /^Comment by/ });
    await comment.getByText('Seen again.').waitFor();
    expect(await comment.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    const staff = await assay.enter('staff', `/vulnerabilities/${ofStaff}`);
    await staff
      .getByRole('article', { name: /^Comment by/ })
      .getByRole('button', { name: 'Delete' })
      .waitFor();
  });

  it('lets those decide a retest who may, and its author cancel it', async () => {
    const page = await openVulnerability(reader, retested);
    await page.getByText('Staff decide this retest').waitFor();
    expect(await page.getByRole('button', { name: /retest$/ }).count()).toBe(0);
    const author = await assay.enter('admin', `/vulnerabilities/${retested}`);
    await author.getByRole('button', { name: 'Cancel the retest' }).waitFor();
    expect(await author.getByRole('radio', { name: 'The fix works' }).count()).toBe(0);
  });

  it('asks for the reason of a dismissal on the page, in the form and in the list', async () => {
    const page = await openVulnerability(member, own);
    await facts(page).locator('[data-change=status]').click();
    await page.getByRole('menuitem', { name: 'Accepted risk' }).click();
    const dialog = page.getByRole('dialog', { name: 'Set status to Accepted risk' });
    const submit = dialog.getByRole('button', { name: 'Set to Accepted risk' });
    expect(await submit.isDisabled()).toBe(true);
    await dialog.getByLabel('Reason', { exact: true }).fill('The system is **retired** in May.');
    await expectAccessible(page, dialog);
    await submit.click();
    await facts(page).getByRole('button', { name: 'Accepted risk' }).waitFor();
    await page.getByText('The system is retired in May.').waitFor();

    await page.goto(`/vulnerabilities/${own}/edit`);
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Not valid' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    const asked = page.getByRole('dialog', { name: 'Set status to Not valid' });
    await asked.getByLabel('Reason', { exact: true }).fill('It is a test page.');
    await asked.getByRole('button', { name: 'Set to Not valid' }).click();
    await page.waitForURL((url) => url.pathname === `/vulnerabilities/${own}`);
    await page.getByText('It is a test page.').waitFor();

    await page.goto(ALL);
    await page.getByRole('checkbox', { name: 'Select Found by ourselves' }).check();
    await page.getByRole('toolbar').getByRole('button', { name: 'Status' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    const reason = page.getByRole('dialog').getByLabel('Reason', { exact: true });
    await reason.fill('See the other one.');
    await expectAccessible(page, page.getByRole('dialog'));
    await page.getByRole('button', { name: 'Set to Duplicate' }).click();
    await expect
      .poll(async () => (await assay.call('admin', 'GET', `/v1/vulnerabilities/${own}`)).status)
      .toBe('Duplicate');

    await page.goto(`${ALL}&search=ourselves`);
    await editAll(page, 1);
    const all = page.getByRole('dialog');
    await all.getByLabel('Status').selectOption('Out of scope');
    await all.getByText('1 matches, 1 will change. Give a reason').waitFor();
    expect(await all.getByRole('button', { name: 'Edit 1 finding' }).isDisabled()).toBe(true);
    await all.getByLabel('Reason', { exact: true }).fill('Not ours.');
    await all.getByRole('button', { name: 'Edit 1 finding' }).click();
    await expect
      .poll(async () => (await assay.call('admin', 'GET', `/v1/vulnerabilities/${own}`)).status)
      .toBe('Out Of Scope');
    await assay.call('admin', 'PATCH', `/v1/vulnerabilities/${own}`, { status_id: 2 });
  });

  it('offers no dismissal that the organization keeps to admins', async () => {
    const path = `/v1/organizations/${assay.demo().organization.uid}`;
    await assay.call('admin', 'PATCH', path, { dismissal_role: 'admin' });
    try {
      const page = await openVulnerability(member, own);
      expect((await statusOptions(page)).at(-1)).toBe('Fixed');
      await page.goto('/vulnerabilities');
      await page.getByRole('checkbox', { name: 'Select Found by ourselves' }).check();
      await page.getByRole('toolbar').getByRole('button', { name: 'Status' }).click();
      await page.getByRole('menuitem').first().waitFor();
      expect(await page.getByRole('menuitem').count()).toBe(5);
    } finally {
      await assay.call('admin', 'PATCH', path, { dismissal_role: 'assessment_member' });
    }
  });

  it('offers in lists what some assessment permits', async () => {
    // One row, as the order of the three depends on the seconds in which they were reported.
    const page = await assay.enterAs(reader, '/vulnerabilities?search=staff');
    await page.getByRole('link', { name: 'Found by staff' }).waitFor();
    expect(await page.getByRole('link', { name: 'New finding' }).count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'More actions' }).count()).toBe(0);
    await page.keyboard.press('j');
    for (const key of ['x', 's', 't', 'e', 'c', 'a', 'n']) await page.keyboard.press(key);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('o');
    const preview = page.getByRole('complementary', { name: 'Preview' });
    await preview.getByText('Pending fix').waitFor();
    expect(await controlsOf(preview)).toEqual(['Previous finding', 'Next finding', 'Close preview']);
    await expectAccessible(page);
    await page.goto('/imports');
    await page.getByText('No imports yet').waitFor();
    expect(await page.getByText('Drop scanner reports here').count()).toBe(0);
    await page.goto('/tags');
    await page.getByText('Your roles do not permit').waitFor();
    expect(await page.getByRole('button', { name: 'New tag' }).count()).toBe(0);

    const developers = await assay.enterAs(developer, '/vulnerabilities');
    await developers.getByRole('checkbox', { name: 'Select Found by staff' }).check();
    expect(await controlsOf(developers.getByRole('toolbar'))).toEqual([
      'Start fix',
      'Status',
      'Assign',
      'Due date',
      'Comment',
      'Clear selection',
    ]);
    await developers.getByRole('button', { name: 'Clear selection' }).click();
    await developers.getByRole('button', { name: 'More actions' }).click();
    await developers.getByRole('menuitem', { name: /^Edit all/ }).click();
    const dialog = developers.getByRole('dialog');
    await dialog.getByLabel('Field').waitFor();
    expect(await dialog.getByLabel('Field').locator('option').allTextContents()).toEqual([
      'Status',
      'Assignee',
      'Due date',
    ]);
    expect(await dialog.getByLabel('Status').locator('option').count()).toBe(5);

    const members = await assay.enterAs(member, '/vulnerabilities');
    await members.getByRole('link', { name: 'New finding' }).waitFor();
    await members.getByRole('checkbox', { name: 'Select Found by staff' }).check();
    expect(await controlsOf(members.getByRole('toolbar'))).toEqual([
      'Start fix',
      'Status',
      'Assign',
      'Due date',
      'Tags',
      'Comment',
      'Clear selection',
    ]);
  });

  it('tells assessments apart in lists and pickers', async () => {
    const page = await assay.enterAs(mixed, '/vulnerabilities?group=none');
    await page.getByRole('checkbox', { name: 'Select Found by ourselves' }).waitFor();
    expect(await page.getByRole('button', { name: 'More actions' }).count()).toBe(0);
    await page.getByRole('checkbox', { name: 'Select Found by ourselves' }).check();
    await page.getByRole('toolbar').getByRole('button', { name: 'Severity' }).waitFor();
    // The newest of the demo, below the header and the three of this test.
    await page.getByRole('row').nth(4).getByRole('checkbox').check();
    await page.getByText('Your roles do not permit to edit all of these.').waitFor();
    await expectAccessible(page);
    await page.goto(`/vulnerabilities?assessment_id=%5B%22${uid}%22%5D`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: /^Edit all 3/ }).waitFor();
    await page.goto('/vulnerabilities/new');
    await page.getByRole('combobox', { name: 'Assessment' }).click();
    await page.getByRole('option').first().waitFor();
    expect(await page.getByRole('option').allTextContents()).toEqual([`Assessment ${uid}`]);
  });

  it('offers operators edits of assessments, and infrastructure admins removals from groups', async () => {
    const page = await assay.enterAs(operator, `/assessments/${uid}`);
    await page.getByRole('button', { name: 'State: Active' }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const form = page.getByRole('dialog', { name: 'Edit assessment' });
    await form.getByLabel('Description').fill('The roles of a programme.');
    // Moving it to another group takes a group admin.
    expect(await form.getByRole('combobox', { name: 'Group' }).count()).toBe(0);
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The roles of a programme.').waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();

    const infras = await assay.enterAs(infra, `/groups/${group.id}`);
    await infras.getByRole('checkbox', { name: 'Select operator' }).check();
    await infras.getByRole('button', { name: 'Remove' }).waitFor();
    expect(await infras.getByRole('button', { name: /^(Role|Add people)$/ }).count()).toBe(0);
    const readers = await assay.enterAs(operator, `/groups/${group.id}`);
    await readers.getByRole('grid', { name: 'Members' }).getByText('infra', { exact: true }).waitFor();
    expect(await readers.getByRole('checkbox').count()).toBe(0);
  });

  it('shows hours and scope without controls, and what was corrected', async () => {
    const path = `/v1/assessments/${uid}/testing_sessions`;
    const [session] = (await assay.call('admin', 'GET', path)) as { id: number }[];
    await assay.call('admin', 'PATCH', `/v1/testing_sessions/${session?.id}`, { note: 'Sign-in' });
    const page = await assay.enterAs(reader, `/assessments/${uid}?show=hours`);
    await page.getByText('1 hour in total').waitFor();
    expect(await page.getByRole('button', { name: /timer|Log hours|State/ }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Edit', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Corrected: show the changes to the session of member' }).click();
    const dialog = page.getByRole('dialog', { name: 'Changes to the session' });
    await dialog.getByText('Note changed from none to Sign-in').waitFor();
    await expectAccessible(page, dialog);
    await page.keyboard.press('Escape');
    await expectAccessible(page);
    await page.getByRole('tab', { name: /^Scope/ }).click();
    await page.getByRole('grid', { name: 'Assets in scope' }).getByRole('link').waitFor();
    expect(await page.getByRole('button', { name: /scope|rules/i }).count()).toBe(0);
    await page.goto(`/assets/${asset}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByText('No open ports').or(page.getByText('Found by staff')).first().waitFor();
    expect(await controlsOf(page.getByRole('main'))).toEqual([]);
    await expectAccessible(page);
    await page.goto('/assets');
    await page.getByRole('grid').getByRole('link').first().waitFor();
    expect(await page.getByRole('button', { name: 'Add assets' }).count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);

    const members = await assay.enterAs(member, `/assessments/${uid}?show=hours`);
    await members.getByRole('button', { name: 'Start timer' }).waitFor();
    await members.getByRole('button', { name: 'Edit the session of member' }).waitFor();
  });

  it('shows an infrastructure admin assets, and why there are no vulnerabilities', async () => {
    const page = await assay.enterAs(infra, `/assessments/${uid}`);
    await page.getByText('shows its assets, but not its findings').waitFor();
    expect(await page.getByRole('tab').allTextContents()).toEqual(['Scope 1', 'Imports']);
    await page.getByRole('button', { name: 'Add to scope' }).waitFor();
    await expectAccessibleInAllViews(page);
    await page.goto(`/assets/${asset}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
    await page.goto('/vulnerabilities');
    await page.getByText('No findings yet').waitFor();
    expect(await page.getByRole('link', { name: 'New finding' }).count()).toBe(0);
    await page.goto('/imports');
    await page.getByText('Drop scanner reports here').waitFor();
    await page.goto('/');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await expectAccessible(page);
  });

  it('changes roles by name, and tells access by group', async () => {
    const page = await assay.enter('admin', `/assessments/${uid}?show=people`);
    const grid = page.getByRole('grid', { name: 'People with access' });
    await grid.getByRole('row').filter({ hasText: 'infra' }).getByText('Infrastructure admin').waitFor();
    await grid
      .getByText(/^By group Group/)
      .first()
      .waitFor();
    await expectAccessibleInAllViews(page);
    const role = grid.getByRole('combobox', { name: 'Role of reader' });
    await role.selectOption('Developer');
    await undo(page, 'Role of reader is now Developer');
    await expect.poll(() => role.inputValue()).toBe('assessment_read_only');
    await page.getByLabel('With role').selectOption('Reader');
    await page.getByRole('combobox', { name: 'Grant access to' }).fill('outsider');
    await page.getByRole('option', { name: /outsider/ }).click();
    await page.getByText(/now has access/).waitFor();
    const rows = (await assay.call('admin', 'GET', `/v1/assessments/${uid}/users`)) as {
      role: string;
      id: number;
    }[];
    expect(rows.find(({ id }) => id === assay.demo().users.outsider.id)?.role).toBe('assessment_read_only');
  });
});
