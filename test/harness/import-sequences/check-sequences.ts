import type { Database } from '../../../src/db/database.ts';
import { differencesAfter } from './check-sequence.ts';
import { dayOf, generateSequence, type GeneratorOptions, type Sequence, type Step } from './generate.ts';
import { createPerson } from './organization.ts';
import type { Person } from './touches.ts';

export interface SequenceFailure {
  seed: number;
  /** The smallest failing sequence found, with its differences. */
  text: string;
}

export interface SequencesToCheck extends GeneratorOptions {
  /** The seed of the first sequence; that of the next one is 1 higher. */
  seed: number;
  count: number;
  /** The number of concurrent sequences. */
  parallel?: number;
  /** The check ends after this many failures. */
  mostFailures?: number;
  onProgress?: (done: number) => void;
}

/** Checks sequences of imports, undos and touches in organizations of their own. */
export async function checkSequences(
  db: Database,
  { seed, count, parallel = 1, mostFailures = 1, onProgress, ...options }: SequencesToCheck,
): Promise<SequenceFailure[]> {
  const person = await createPerson(db);
  const failures: SequenceFailure[] = [];
  let [next, done] = [0, 0];
  const work = async (): Promise<void> => {
    while (next < count && failures.length < mostFailures) {
      const sequenceSeed = seed + next;
      next += 1;
      const sequence = generateSequence(sequenceSeed, options);
      if ((await problemsOf(db, person, sequence)).length > 0) {
        const smallest = await shrink(db, person, sequence);
        failures.push({
          seed: sequenceSeed,
          text: describe(smallest, await problemsOf(db, person, smallest)),
        });
      }
      done += 1;
      onProgress?.(done);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return failures;
}

async function problemsOf(db: Database, person: Person, sequence: Sequence): Promise<string[]> {
  try {
    return await differencesAfter(db, person, sequence);
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  }
}

/** @returns a failing sequence that passes without any one of its steps */
async function shrink(db: Database, person: Person, sequence: Sequence): Promise<Sequence> {
  for (let smallest = sequence; ;) {
    let smaller: Sequence | undefined;
    for (const candidate of smallerThan(smallest))
      if ((await problemsOf(db, person, candidate)).length > 0) {
        smaller = candidate;
        break;
      }
    if (smaller === undefined) return smallest;
    smallest = smaller;
  }
}

function* smallerThan({ steps, hasDecisions }: Sequence): Generator<Sequence> {
  for (const index of steps.keys()) yield { steps: steps.toSpliced(index, 1), hasDecisions };
  if (hasDecisions) yield { steps, hasDecisions: false };
  for (const [index, step] of steps.entries())
    for (const simpler of simplerThan(step)) yield { steps: steps.with(index, simpler), hasDecisions };
}

function* simplerThan(step: Step): Generator<Step> {
  if (step.kind !== 'import') return;
  const { content, options } = step;
  for (const index of content.items.keys())
    yield { ...step, content: { ...content, items: content.items.toSpliced(index, 1) } };
  for (const [index, item] of content.items.entries())
    for (const [name, minimum] of [
      ['level', 0],
      ['text', 0],
      ['locations', 1],
    ] as const)
      if (item[name] !== minimum)
        yield {
          ...step,
          content: { ...content, items: content.items.with(index, { ...item, [name]: minimum }) },
        };
  if (content.isNarrow) yield { ...step, content: { ...content, isNarrow: false } };
  if (options.whenGone === 'fix') yield { ...step, options: { ...options, whenGone: 'keep' } };
  if (options.listAssets === true) yield { ...step, options: { ...options, listAssets: false } };
  if (options.carry === true) yield { ...step, options: { ...options, carry: false } };
  if (options.minimumSeverity != null) yield { ...step, options: { ...options, minimumSeverity: null } };
  for (const name of ['targets', 'tags'] as const)
    if ((options[name] ?? []).length > 0) yield { ...step, options: { ...options, [name]: [] } };
  if (options.scannedAt != null) yield { ...step, options: { ...options, scannedAt: null } };
}

function describe({ steps, hasDecisions }: Sequence, problems: readonly string[]): string {
  return [
    ...(hasDecisions ? ['with decisions in another assessment'] : []),
    ...steps.map((step, index) => `${index + 1}. day ${dayNumber(step.at)}: ${textOf(step)}`),
    ...problems.map((problem) => `   ${problem}`),
  ].join('\n');
}

const dayNumber = (at: number): number => (at - dayOf(1)) / 86_400_000 + 1;

function textOf(step: Step): string {
  if (step.kind === 'undo') return `undo import ${step.key}`;
  if (step.kind === 'touch') return `touch ${step.which}: ${JSON.stringify(step.touch)}`;
  const { key, assessment, content, options } = step;
  const { items, at, format, isNarrow } = content;
  const reported = items.map(
    ({ item, level, text, locations }) =>
      `${item}(level ${level}, text ${text}, ${locations} ${locations === 1 ? 'location' : 'locations'})`,
  );
  const { scannedAt, targets = [], tags = [], minimumSeverity, whenGone, carry, listAssets } = options;
  return [
    `import ${key} of ${format}`,
    at === null ? 'without a time' : `of day ${dayNumber(at)}`,
    assessment === null ? 'into the organization' : `into assessment ${assessment}`,
    `with ${reported.join(', ') || 'nothing'}`,
    ...(isNarrow ? ['ports up to 100'] : []),
    ...(scannedAt == null ? [] : [`scanned on day ${dayNumber(scannedAt)}`]),
    ...(targets.length === 0 ? [] : ['targets']),
    ...(tags.length === 0 ? [] : [`tags ${tags.join(', ')}`]),
    ...(minimumSeverity == null ? [] : [`at least ${minimumSeverity}`]),
    ...(whenGone === 'fix' ? ['fix'] : []),
    ...(carry === true ? ['carry'] : []),
    ...(listAssets === true ? ['lists assets'] : []),
  ].join(', ');
}
