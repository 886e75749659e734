import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { newVisitor } from '../harness/visitor.ts';
import { worldOf } from '../harness/world.ts';

const PATH = '/account/people';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

it('Staff who are assigned to organizations make links for the people of these alone', async () => {
  const world = worldOf(server);
  const [mine, other] = [await world.organization(), await world.organization()];
  const staff = await world.account({ assignedTo: [mine.uid] });
  const visitor = newVisitor(server);
  await visitor.signIn(staff.email, staff.password);
  const make = async (organization: string, link: string) => {
    const person = await (link === 'password' ? world.account : world.invited)({ organization, admin: true });
    return visitor.submit(await visitor.open(PATH), { email: person.email, link }, PATH);
  };
  for (const link of ['password', 'invitation']) {
    const within = await make(mine.uid, link);
    expect(within.status).toBe(200);
    expect(within.text).toContain('token=');
    const beyond = await make(other.uid, link);
    expect(beyond.status).toBe(422);
    expect(beyond.text).toContain('There is no such user among those you look after.');
    expect(beyond.text).not.toContain('token=');
  }
});
