import { verifyPassword, hashPassword } from '../src/auth/passwords.ts';

/** What many people who sign in at once came to. */
export interface SignIns {
  perSecond: number;
  /** Milliseconds from the form's POST to its answer. */
  p50: number;
  p99: number;
}

/** One browser after the other, for one person: the sign-in page, its form, and the redirect that answers it. */
async function signIn(origin: string, person: { email: string; password: string }): Promise<number> {
  const page = await fetch(`${origin}/sign-in`);
  const cookie = page.headers
    .getSetCookie()
    .map((text) => text.split(';', 1)[0])
    .join('; ');
  const csrf = /name="_csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const began = performance.now();
  const answer = await fetch(`${origin}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
    body: new URLSearchParams({ ...person, _csrf: csrf, to: '/account' }).toString(),
  });
  await answer.arrayBuffer();
  if (answer.status !== 303) throw new Error(`A sign-in was answered with ${answer.status}.`);
  return performance.now() - began;
}

/**
 * Lets every person sign in again and again, all at once, until `others` ends, or for `rounds` times each.
 * @returns what the sign-ins came to
 */
export async function signInTogether(
  port: number,
  people: readonly { email: string; password: string }[],
  rounds: number,
  others: Promise<unknown> = Promise.resolve(),
): Promise<SignIns> {
  let ended = false;
  const end = others.finally(() => {
    ended = true;
  });
  const times: number[] = [];
  const began = performance.now();
  await Promise.all(
    people.map(async (person) => {
      for (let round = 0; round < rounds || !ended; round += 1)
        times.push(await signIn(`http://127.0.0.1:${port}`, person));
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  await end;
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { perSecond: times.length / seconds, p50: at(0.5), p99: at(0.99) };
}

/** @returns how many passwords this process checks a second, when it does nothing else */
export async function passwordsPerSecond(count: number): Promise<number> {
  const hash = await hashPassword('bench');
  const began = performance.now();
  await Promise.all(Array.from({ length: count }, () => verifyPassword(hash, 'bench')));
  return (count / (performance.now() - began)) * 1000;
}
