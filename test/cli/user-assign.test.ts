import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCommandLine } from './command-line.ts';

const assay = await startCommandLine();
beforeAll(async () => {
  for (const uid of ['acme', 'umbra', 'other'])
    await assay.json('organization', 'create', uid, '--name', uid);
});
afterAll(() => assay.close());

let counter = 0;
const newStaff = (...assign: string[]) =>
  assay.json('user', 'create', '--email', `staff${(counter += 1)}@example.com`, '--staff', ...assign);

async function expectRefusal(args: string[], code: number, words: string) {
  const { stderr, stdout, ...rest } = await assay.run(['user', 'assign', ...args]);
  expect({ ...rest, stdout }).toEqual({ code, stdout: '' });
  expect(stderr).toContain(words);
}

describe('assay user assign', () => {
  it('restricts staff with existing tokens to organizations, and lifts the restriction', async () => {
    const { id, uid, email } = await newStaff();
    const { token } = await assay.json('token', 'create', '--user', email, '--scopes', 'tag_ow');
    const server = await assay.serveHere();
    const statusIn = async (organization: string) => {
      const response = await fetch(`${server.origin}/api/tagging/v1.0/organizations/${organization}/tags`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ tags: [{ name: `tag ${(counter += 1)}` }] }),
      });
      return response.status;
    };
    const statuses = async () => [await statusIn('acme'), await statusIn('umbra'), await statusIn('other')];
    expect(await statuses()).toEqual([201, 201, 201]);
    const assigned = await assay.json('user', 'assign', email, '--organization', 'acme', 'umbra');
    expect(assigned).toEqual({ id, uid, email, assigned_to: ['acme', 'umbra'] });
    expect(await statuses()).toEqual([201, 201, 404]);

    const replaced = await assay.run(['user', 'assign', uid, '--organization', 'other']);
    expect(replaced).toEqual({
      code: 0,
      stdout: `${email} has access to other only.\n`,
      stderr: '',
    });
    expect(await statuses()).toEqual([404, 404, 201]);

    const freed = await assay.run(['user', 'assign', String(id), '--all']);
    expect(freed).toEqual({ code: 0, stdout: `${email} has access to all organizations.\n`, stderr: '' });
    expect(await statuses()).toEqual([201, 201, 201]);
  });

  it('rejects client users, unknown names, and missing or contradictory options', async () => {
    const { email } = await newStaff('--assign', 'acme');
    const client = await assay.json('user', 'create', '--email', 'c@example.com', '--organization', 'acme');
    await expectRefusal([client.email, '--all'], 1, 'is not platform staff');
    await expectRefusal(['nobody@example.com', '--all'], 1, 'not found');
    await expectRefusal([email, '--organization', 'umbra', 'nothing'], 1, 'nothing');
    await expectRefusal([email], 2, '--organization UID or ');
    await expectRefusal([email, '--all', '--organization', 'acme'], 2, '--organization');
  });
});
