import { describe, expect, it } from 'vitest';
import type { GroupRole } from '../../src/auth/roles.ts';
import { createFixtures } from '../harness/fixtures.ts';
import { createFormClient } from '../harness/form-client.ts';
import { insertImport } from '../harness/imports.ts';
import { useSharedServer } from '../harness/server.ts';

const server = await useSharedServer();
const make = createFixtures(server);

/** An organization with findings in two assessments, and a running import in the first of them. */
async function organizationWithFindings() {
  const { id: organizationId, uid } = await make.organization();
  const group = await make.group(uid);
  const first = await make.assessment(uid, `${uid}first`, group.id);
  const other = await make.assessment(uid, `${uid}other`);
  await make.vulnerability(first.uid);
  await make.vulnerability(first.uid, { draft: true });
  await make.vulnerability(first.uid, { statusId: 5 });
  await make.vulnerability(other.uid);
  await insertImport(server, { organizationId, assessmentId: first.id, state: 'running' });
  await insertImport(server, { organizationId, assessmentId: first.id, state: 'succeeded' });
  return { uid, group };
}

/** The texts of the links of the navigation by their addresses, as the account sees them. */
async function navigationOf(account: { email: string; password: string }): Promise<Map<string, string>> {
  const visitor = createFormClient(server);
  await visitor.signIn(account.email, account.password);
  const { text } = await visitor.get('/account');
  const [navigation = ''] = /<nav class="side".*?<\/nav>/s.exec(text) ?? [];
  return new Map(
    [...navigation.matchAll(/<a [^>]*href="([^"]+)"[^>]*>(.*?)<\/a>/gs)].map(
      ([, href = '', content = '']) => [href, content.replaceAll(/<[^>]+>/g, '')],
    ),
  );
}

describe('The navigation of the account pages', () => {
  it('counts what its reader sees in the lists of the console', async () => {
    const { uid, group } = await organizationWithFindings();
    const navigationAs = async (role?: GroupRole) => {
      const account = await make.account({ organization: uid, admin: role === undefined });
      if (role !== undefined) await make.member(group.id, account.uid, role);
      return navigationOf(account);
    };
    const [admin, reader] = [await navigationAs(), await navigationAs('assessment_read_only')];
    expect(admin.get('/vulnerabilities')).toBe('Vulnerabilities2 open');
    expect(admin.get('/imports')).toBe('Imports1 running');
    expect(admin.has('/audit')).toBe(true);
    expect(reader.get('/vulnerabilities')).toBe('Vulnerabilities1 open');
    expect(reader.get('/imports')).toBe('Imports1 running');
    expect(reader.has('/audit')).toBe(false);
  });

  it('leaves out the vulnerabilities for who may not read them, and the counts for who has no role', async () => {
    const { uid, group } = await organizationWithFindings();
    const infrastructure = await make.account({ organization: uid });
    await make.member(group.id, infrastructure.uid, 'infra_admin');
    const infra = await navigationOf(infrastructure);
    expect(infra.has('/vulnerabilities')).toBe(false);
    expect(infra.get('/assets')).toBeDefined();
    expect(infra.get('/imports')).toBe('Imports1 running');

    const stranger = await navigationOf(await make.account({ organization: uid }));
    expect(stranger.get('/imports')).toBe('Imports');
  });
});
