import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { DemoManifest } from '../../src/demo/manifest.ts';
import { startAssay } from '../../bench/processes.ts';
import type { AttackCounts, AttackJob } from './attacker.ts';
import { Client, formBody } from './client.ts';

/**
 * Attacks a server as two accounts and without credentials, and measures the effect on another tenant: `npm run
 * test:hostile`. Fails if the other tenant waits too long, or if the server uses too much memory or disk.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    /** The limit for 99% of the other tenant's requests, in milliseconds. */
    p99: { type: 'string', default: '250' },
    /** The limit for all of them, in milliseconds. */
    most: { type: 'string', default: '1000' },
    /** The limit of additional memory, in MiB. */
    memory: { type: 'string', default: '300' },
    /** Runs only attacks whose name contains this text. */
    only: { type: 'string', default: '' },
  },
});
const seconds = Number(values.seconds);
const LIMITS = {
  p99: Number(values.p99),
  most: Number(values.most),
  memory: Number(values.memory),
  disk: 128,
};
const INTERVAL = 100;
/** Large vulnerabilities that the account with access creates first. */
const LARGE = 100;
const LARGE_TEXT = 'x'.repeat(65_000);
const MAX_DISK_WAIT = 60_000;
/** The requests of the other tenant. */
const CONNECTIONS = 32;

const delay = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const mebibytes = (bytes: number) => Math.round(bytes / 1024 ** 2);

const folder = mkdtempSync(join(tmpdir(), 'assay-hostile-'));
const server = await startAssay({ MALLOC_ARENA_MAX: '2' }, folder, ['--demo']);
try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function run(): Promise<boolean> {
  const demo = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as DemoManifest;
  const member = new Client(server.port, '127.0.0.2', demo.users.member.token);
  await prepare(member, demo.assessment.uid);
  const tenant = new Client(server.port, '127.0.0.1', demo.other.users.admin.token);
  // Opens connections first, as browsers and proxies keep theirs: a process accepts one per turn of the event loop.
  await Promise.all(
    Array.from({ length: CONNECTIONS }, () => tenant.send('GET', '/v1/vulnerabilities/summary')),
  );
  await measureTenant(tenant, demo.other.vulnerability.id, delay(3_000));
  const before = { memory: server.memory(), disk: diskUsage(folder) };

  const attacker = fork(new URL('attacker.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  // Real attackers have their own processors, so this one runs with a lower priority.
  setPriority(attacker.pid ?? 0, constants.priority.PRIORITY_LOW);
  const job: AttackJob = {
    port: server.port,
    seconds,
    only: values.only,
    accounts: [
      { token: tokenOf(demo.users.member), address: '127.0.0.2' },
      { token: tokenOf(demo.users.outsider), address: '127.0.0.3' },
    ],
    assessment: demo.assessment.uid,
    vulnerability: demo.vulnerability.id,
  };
  let peak = before.memory;
  const watch = setInterval(() => (peak = Math.max(peak, server.memory())), 250);
  attacker.send(job);
  const ended = Promise.race([
    once(attacker, 'message') as Promise<[AttackCounts]>,
    once(attacker, 'exit').then(([code]) => {
      throw new Error(`The process that attacks ended with ${code}.`);
    }),
  ]);
  const times = await measureTenant(tenant, demo.other.vulnerability.id, ended);
  clearInterval(watch);
  const [counts] = await ended;
  const disk = await diskAfterwards(before.disk);

  times.sort((one, other) => one - other);
  const measured = {
    p99: Math.round(times[Math.floor(times.length * 0.99)] ?? Infinity),
    most: Math.round(times.at(-1) ?? Infinity),
    memory: mebibytes(peak - before.memory),
    disk: mebibytes(disk - before.disk),
  };
  console.log(`Attacks in ${seconds} s:`);
  for (const [name, count] of Object.entries(counts)) console.log(`  ${String(count).padStart(5)}  ${name}`);
  console.log(`${times.length} requests of the other tenant, and the server:`);
  return [
    check('99 of 100 requests, ms', measured.p99, LIMITS.p99),
    check('the slowest, ms', measured.most, LIMITS.most),
    check('more memory, MiB', measured.memory, LIMITS.memory),
    check('more disk afterwards, MiB', measured.disk, LIMITS.disk),
  ].every(Boolean);
}

function check(name: string, measured: number, limit: number): boolean {
  const isWithin = measured <= limit;
  console.log(
    `  ${isWithin ? 'ok  ' : 'FAIL'}  ${name.padEnd(26)} ${String(measured).padStart(6)} of at most ${limit}`,
  );
  return isWithin;
}

function tokenOf({ uid, token }: { uid: string; token?: string }): string {
  if (token === undefined) throw new Error(`The demo user ${uid} has no token.`);
  return token;
}

async function prepare(member: Client, assessment: string): Promise<void> {
  const largeTexts = { description: LARGE_TEXT, impact: LARGE_TEXT, recommended_fix: LARGE_TEXT };
  for (let count = 0; count < LARGE; count += 1) {
    const body = { title: `Large ${count}`, assessment_id: assessment, severity: 'Low', ...largeTexts };
    const { status, text } = await member.json('POST', '/v1/vulnerabilities', body);
    if (status !== 201) throw new Error(`A vulnerability could not be created: ${status} ${text}`);
  }
  // Warms up the caches and the threads.
  const list = '/v1/vulnerabilities?page[size]=200';
  for (const sort of ['', '&sort=-title']) await member.send('GET', list + sort);
  await member.send('GET', list, { headers: { accept: 'application/x-ndjson' } });
  const report: object = { findings: [{ title: 'Warm-up', severity: 'Low' }] };
  const { status, text } = await member.send(
    'POST',
    '/v1/imports',
    formBody([
      ['assessment_id', assessment],
      ['file', JSON.stringify(report), 'report.json'],
    ]),
  );
  if (status !== 202) throw new Error(`A report could not be imported: ${status} ${text}`);
}

/** Sends requests at a constant rate until the attack ends. @returns the duration of each in ms */
async function measureTenant(
  tenant: Client,
  vulnerability: number,
  end: Promise<unknown>,
): Promise<number[]> {
  const times: number[] = [];
  const path = `/v1/vulnerabilities/${vulnerability}`;
  const requests: (() => ReturnType<Client['send']>)[] = [
    () => tenant.send('GET', '/v1/vulnerabilities?page[size]=50'),
    () => tenant.json('PATCH', path, { title: `Changed ${times.length}` }),
    () => tenant.send('GET', path),
    () => tenant.send('GET', '/v1/vulnerabilities?filter[search]=header&sort=-severity'),
  ];
  const pending = new Set<Promise<void>>();
  let isRunning = true;
  const stop = () => void (isRunning = false);
  end.then(stop, stop);
  for (let count = 0; isRunning; count += 1) {
    const startedAt = performance.now();
    const sent = requests[count % requests.length]!().then(({ status, text }) => {
      if (status !== 200) throw new Error(`The other tenant got ${status}: ${text.slice(0, 300)}`);
      times.push(performance.now() - startedAt);
    });
    pending.add(sent);
    sent.then(
      () => pending.delete(sent),
      () => (isRunning = false),
    );
    await delay(INTERVAL);
  }
  await Promise.all(pending);
  return times;
}

/** Waits until the disk is within its limit, at most a minute. */
async function diskAfterwards(before: number): Promise<number> {
  const end = performance.now() + MAX_DISK_WAIT;
  for (;;) {
    const now = diskUsage(folder);
    if (now - before <= LIMITS.disk * 1024 ** 2 || performance.now() > end) return now;
    await delay(1_000);
  }
}

function diskUsage(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true }).reduce((sum, file) => {
    try {
      return file.isFile() ? sum + statSync(join(file.parentPath, file.name)).size : sum;
    } catch {
      // Deleted concurrently.
      return sum;
    }
  }, 0);
}
