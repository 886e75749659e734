import { hashPassword, verifyPassword } from '../src/auth/passwords.ts';
import {
  type Bench,
  CONNECTIONS,
  measure,
  type Measurement,
  median,
  progress,
  type BenchmarkResult,
  ROUNDS,
  summary,
} from './measure.ts';

const OTHER_REQUESTS = 8_000;
const PASSWORDS = 40;
/** Multiple of the p99 without sign-ins. */
const OTHERS_TARGET = 2;

/** Throughput and latency of concurrent sign-ins. */
interface SignIns {
  perSecond: number;
  /** Milliseconds from the form's POST to its response. */
  p50: number;
  p99: number;
}

/** Signs in like a new browser: the page, its form, and the redirect. */
async function signIn(origin: string, person: { email: string; password: string }): Promise<number> {
  const page = await fetch(`${origin}/sign-in`);
  const cookie = page.headers
    .getSetCookie()
    .map((text) => text.split(';', 1)[0])
    .join('; ');
  const csrf = /name="_csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const startedAt = performance.now();
  const response = await fetch(`${origin}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
    body: new URLSearchParams({ ...person, _csrf: csrf, to: '/account' }).toString(),
  });
  await response.arrayBuffer();
  if (response.status !== 303) throw new Error(`A sign-in got status ${response.status}.`);
  return performance.now() - startedAt;
}

/**
 * Each user signs in repeatedly, all concurrently, until `others` settles, or for `rounds` times.
 * @returns throughput and latency of the sign-ins
 */
async function signInTogether(
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
  const startedAt = performance.now();
  await Promise.all(
    people.map(async (person) => {
      for (let round = 0; round < rounds || !ended; round += 1)
        times.push(await signIn(`http://127.0.0.1:${port}`, person));
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await end;
  times.sort((one, other) => one - other);
  const percentile = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { perSecond: times.length / seconds, p50: percentile(0.5), p99: percentile(0.99) };
}

/** @returns the passwords per second that this process verifies when it does nothing else */
async function passwordsPerSecond(count: number): Promise<number> {
  const hash = await hashPassword('bench');
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: count }, () => verifyPassword(hash, 'bench')));
  return (count / (performance.now() - startedAt)) * 1000;
}

/** Measures other requests while eight users sign in, and the sign-ins. */
export async function signIns(bench: Bench): Promise<BenchmarkResult[]> {
  progress(`${bench.engine}: sign-in`);
  const { engine, assay, dataset } = bench;
  const bound = await passwordsPerSecond(PASSWORDS);
  const rows: BenchmarkResult[] = [];
  for (const connections of [1, CONNECTIONS]) {
    const quiet: Measurement[] = [];
    const busy: Measurement[] = [];
    const people: Awaited<ReturnType<typeof signInTogether>>[] = [];
    await measure(bench, assay, 'op12-members', connections, OTHER_REQUESTS / 4);
    for (let round = 0; round < ROUNDS; round += 1) {
      quiet.push(await measure(bench, assay, 'op12-members', connections, OTHER_REQUESTS));
      const otherRequests = measure(bench, assay, 'op12-members', connections, OTHER_REQUESTS);
      people.push(await signInTogether(assay.port, dataset.people, 1, otherRequests));
      busy.push(await otherRequests);
    }
    const [before, during] = [summary(quiet), summary(busy)];
    const ratio = during.p99 / before.p99;
    const perSecond = median(people.map((result) => result.perSecond));
    rows.push(
      {
        engine,
        workload: `op12-members while 8 sign in, ${connections} connections`,
        ...during,
        ratio,
        target: `<= ${OTHERS_TARGET} x quiet p99 (${before.p99.toFixed(2)} ms)`,
        holds: ratio <= OTHERS_TARGET,
      },
      {
        engine,
        workload: `sign-in, 8 at once, beside ${connections} connections`,
        requestsPerSecond: perSecond,
        p50: median(people.map((result) => result.p50)),
        p99: median(people.map((result) => result.p99)),
        ratio: perSecond / bound,
        target: '',
        holds: true,
      },
    );
  }
  rows.push({
    engine,
    workload: 'argon2 alone',
    requestsPerSecond: bound,
    ratio: 1,
    target: '',
    holds: true,
  });
  return rows;
}
