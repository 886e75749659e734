import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { act } from './mix-actions.ts';
import type { Person } from './mix-data.ts';
import { identify, type Visitor } from './mix-pages.ts';
import { type Kind, KINDS, openAgent, Recorder, Tab, UnexpectedResponse } from './mix-tab.ts';

/** The first message: who acts on which server. */
export interface MixSetup {
  port: number;
  people: Person[];
  /** Files with reports to upload. */
  reports: string[];
}

/** The next ones: for how long, and how many actions a second are due in all. */
export interface MixPhase {
  rate: number;
  seconds: number;
}

export interface Latencies {
  count: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

export interface MixResult {
  kinds: Record<Kind, Latencies>;
  actions: number;
  /** Requests and followed imports a second, from the first action to the end of the last. */
  perSecond: number;
  /** Actions that had not ended when the last was due. */
  waiting: number;
  serverErrors: number;
  unexpected: Record<string, number>;
  samples: string[];
  slowest: Recorder['slowest'];
}

export interface MixProgress {
  actions: number;
  waiting: number;
  unexpected: number;
}

export type MixMessage = { progress: MixProgress } | { result: MixResult } | { error: string };

const SEED = 20_261_130;
const PROGRESS_INTERVAL = 15_000;
/** Actions of which so many wait are too many: the others would only wait longer. */
const MAX_WAITING = 1_000;

/** Numbers from 0 to below 1 (mulberry32), the same for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface World {
  port: number;
  visitors: { visitor: Visitor; agent: ReturnType<typeof openAgent> }[];
  reports: Buffer[];
  random: () => number;
}

/** Number of people who open the console at the same time before the first phase. */
const ARRIVING = 8;

const build = ({ port, people, reports }: MixSetup): World => ({
  port,
  reports: reports.map((file) => readFileSync(file)),
  random: generator(SEED),
  visitors: people.map((person, number) => ({
    agent: openAgent(person),
    visitor: {
      person,
      random: generator(SEED + 1 + number),
      userId: 0,
      reportable: [],
      assessments: [],
      rows: [],
    },
  })),
});

/** Opens the console once for each person, without measuring it. */
async function arrive({ port, visitors }: World): Promise<void> {
  const waiting = [...visitors];
  const arriveNext = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { visitor, agent } = next;
      const options = { port, token: visitor.person.token, agent, recorder: new Recorder() };
      await identify(new Tab(options, performance.now()), visitor);
    }
  };
  await Promise.all(Array.from({ length: ARRIVING }, arriveNext));
}

/** Starts actions at their times, whether or not earlier ones have ended, and waits for all. */
async function run(world: World, { rate, seconds }: MixPhase): Promise<MixResult> {
  const recorder = new Recorder();
  const running = new Set<Promise<void>>();
  const startedAt = performance.now();
  const end = startedAt + seconds * 1_000;
  let actions = 0;
  let failure: unknown;
  const unexpected = () => Object.values(recorder.unexpected).reduce((sum, count) => sum + count, 0);
  const timer = setInterval(
    () => tell({ progress: { actions, waiting: running.size, unexpected: unexpected() } }),
    PROGRESS_INTERVAL,
  );
  const start = (due: number): void => {
    const one = world.visitors[Math.floor(world.random() * world.visitors.length)];
    if (one === undefined) return;
    const { visitor, agent } = one;
    const tab = new Tab({ port: world.port, token: visitor.person.token, agent, recorder }, due);
    actions += 1;
    const action = act(tab, visitor, world.reports)
      .catch((error: unknown) => {
        if (!(error instanceof UnexpectedResponse)) failure ??= error;
      })
      .finally(() => running.delete(action));
    running.add(action);
  };
  let due = startedAt;
  for (;;) {
    // Independent people: the times between their actions are exponentially distributed.
    due += (-Math.log(1 - world.random()) * 1_000) / rate;
    if (due >= end || running.size > MAX_WAITING || failure !== undefined) break;
    await delay(Math.max(0, due - performance.now()));
    start(due);
  }
  const waiting = running.size;
  await Promise.all(running);
  clearInterval(timer);
  if (failure !== undefined) throw failure as Error;
  const elapsed = (performance.now() - startedAt) / 1_000;
  const kinds = Object.fromEntries(
    KINDS.map((kind) => [kind, summarize(recorder.latencies[kind])]),
  ) as Record<Kind, Latencies>;
  return {
    kinds,
    actions,
    perSecond: Object.values(kinds).reduce((sum, { count }) => sum + count, 0) / elapsed,
    waiting,
    serverErrors: recorder.serverErrors,
    unexpected: recorder.unexpected,
    samples: recorder.samples,
    slowest: recorder.slowest,
  };
}

function summarize(latencies: readonly number[]): Latencies {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99) };
}

const tell = (message: MixMessage): void => void process.send?.(message);

let world: Promise<World> | undefined;

async function open(setup: MixSetup): Promise<World> {
  const built = build(setup);
  await arrive(built);
  return built;
}

async function runPhase(phase: MixPhase): Promise<MixResult> {
  if (world === undefined) throw new Error('The first message must say who acts.');
  return run(await world, phase);
}

process.on('message', (message: MixSetup | MixPhase) => {
  if ('people' in message) {
    world = open(message);
    return;
  }
  runPhase(message).then(
    (result) => tell({ result }),
    (error: unknown) => tell({ error: error instanceof Error ? (error.stack ?? '') : String(error) }),
  );
});
