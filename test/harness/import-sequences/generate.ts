import type { ImportOptions } from '../../../src/domain/imports/import-types.ts';
import {
  FINDING_FORMATS,
  HOST_FORMATS,
  TARGETS,
  UNTIMED_FORMATS,
  type ReportContent,
  type ReportedItem,
  type SequenceFormat,
} from './reports.ts';

/** A source of random numbers that a seed determines (mulberry32). */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** @returns a number of at least 0 and below 1 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** @returns a whole number of at least `least` and at most `most` */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('There is nothing to choose from.');
    return list[this.between(0, list.length - 1)] as T;
  }

  /** @returns each item of a list with a probability, in order */
  sample<T>(list: readonly T[], probability = 0.5): T[] {
    return list.filter(() => this.chance(probability));
  }
}

const DAY = 86_400_000;
/** 10:00 on a day of January 2026; day 0 is before every report of a sequence. */
export const dayOf = (number: number): number => Date.UTC(2026, 0, 1, 10) + (number - 1) * DAY;

export interface ImportStep {
  kind: 'import';
  /** The name by which undos refer to it. */
  key: number;
  /** The time of the upload, in milliseconds since 1970; of other steps, when they are done. */
  at: number;
  /** The index of the assessment; `null` for a report of hosts that is for the organization. */
  assessment: 0 | 1 | null;
  content: ReportContent;
  options: Partial<ImportOptions>;
}

/** Undoes an import. Does nothing if none is left. */
interface UndoStep {
  kind: 'undo';
  at: number;
  key: number;
}

/** A person changes a finding or the scope of an asset. Does nothing if there is none. */
export interface TouchStep {
  kind: 'touch';
  at: number;
  /** The index of the finding or asset, modulo their number. */
  which: number;
  touch: Touch;
}

/** No report has these values. */
export type Touch =
  /** Operation 5. */
  | { do: 'status'; status: number }
  | { do: 'add-tag'; tag: string }
  | { do: 'remove-tag'; tag: string }
  /** Operation 19, with all other fields unchanged. */
  | {
      do: 'replace';
      fields: { severity?: 'Critical'; title?: string; description?: string; impact?: string };
    }
  /** Operation 21, or 23 if the finding has an attachment. */
  | { do: 'attach' }
  /** Operation 25. */
  | { do: 'comment' }
  /** Operation 28, or 29 if a retest is requested. */
  | { do: 'retest'; decision: 'verified' | 'failed' | 'blocked' | 'cancelled' }
  /** Operation 30. */
  | {
      do: 'bulk';
      set: { statusId?: number; severity?: 'Critical'; dueOn?: string; assigns?: true; addTags?: string[] };
    }
  /** Operation 11. */
  | { do: 'scope'; rule: string };

export type Step = ImportStep | UndoStep | TouchStep;

export interface Sequence {
  steps: readonly Step[];
  /** Whether another assessment has decisions on the same findings before the first step. */
  hasDecisions: boolean;
}

export interface GeneratorOptions {
  /** Only imports in the order of their reports, without undos. */
  inOrder?: boolean;
  /** Steps of a sequence. */
  min?: number;
  max?: number;
}

/** @returns the sequence that a seed determines */
export function generateSequence(
  seed: number,
  { inOrder = false, min = 5, max = 8 }: GeneratorOptions = {},
): Sequence {
  const random = new Random(seed);
  const formats = chooseFormats(random);
  const hasDecisions = random.chance(0.15);
  const steps: Step[] = [];
  const count = random.between(min, max);
  let day = random.between(1, 3);
  for (let index = 0; index < count; index += 1) {
    const imports = steps.filter((step) => step.kind === 'import');
    const undone = new Set(steps.flatMap((step) => (step.kind === 'undo' ? [step.key] : [])));
    const remaining = imports.filter(({ key }) => !undone.has(key));
    // Half days are between the times of reports, whole days are the times of reports.
    day = Math.min(12, day + random.pick([0, 0.5, 0.5, 1, 1, 2]));
    const at = dayOf(day);
    const kind = random.next();
    if (remaining.length > 0 && !inOrder && kind < 0.25)
      steps.push({ kind: 'undo', at, key: random.pick(remaining).key });
    else if (imports.length > 0 && kind < 0.5) {
      const last = steps.findLast((step) => step.kind === 'touch');
      steps.push(
        last !== undefined && isToggle(last.touch) && random.chance(0.6)
          ? { ...last, at }
          : { kind: 'touch', at, which: random.pick(WHICH), touch: chooseTouch(random, index) },
      );
      // A report with the same time would precede it.
      if (inOrder) day += 0.5;
    } else
      steps.push(
        chooseImport(random, { key: index, day, at, formats, imports, inOrder, carries: hasDecisions }),
      );
  }
  return { steps, hasDecisions };
}

/** Some objects are changed more often than others. */
const WHICH = [0, 0, 0, 1, 2, 3, 5, 7] as const;

/** Whether a repeated change is an interesting case. */
const isToggle = (touch: Touch): boolean => touch.do === 'retest' || touch.do === 'attach';

/** Few, so that imports overlap. */
function chooseFormats(random: Random): SequenceFormat[] {
  const kind = random.next();
  if (kind < 0.25) return [...HOST_FORMATS];
  if (kind < 0.4) return ['nessus', random.pick(HOST_FORMATS)];
  const formats: SequenceFormat[] = [random.pick(FINDING_FORMATS)];
  if (random.chance(0.4)) formats.push(random.pick([...FINDING_FORMATS, ...HOST_FORMATS]));
  return formats;
}

const isHostFormat = (format: SequenceFormat): boolean => HOST_FORMATS.some((name) => name === format);

function chooseImport(
  random: Random,
  context: {
    key: number;
    day: number;
    at: number;
    formats: readonly SequenceFormat[];
    imports: readonly ImportStep[];
    inOrder: boolean;
    carries: boolean;
  },
): ImportStep {
  const { key, day, at, formats, imports, inOrder, carries } = context;
  const earlier = inOrder ? day : random.between(1, Math.floor(day));
  const step = (content: ReportContent, assessment: ImportStep['assessment']): ImportStep => ({
    kind: 'import',
    key,
    at,
    assessment,
    content,
    options: {
      whenGone: random.pick(['keep', 'fix']),
      targets: random.chance(0.6) ? TARGETS : [],
      minimumSeverity: random.chance(0.15) ? 'High' : null,
      carry: carries && random.chance(0.6),
      tags: random.chance(0.25) ? [random.pick(['scan-a', 'scan-b'])] : [],
      // Reports that state a time ignore it.
      scannedAt: !inOrder && random.chance(0.5) ? dayOf(earlier) : null,
      listAssets: random.chance(0.4),
    },
  });
  if (imports.length > 0 && !inOrder && random.chance(0.12)) {
    const original = random.pick(imports);
    return step(original.content, original.assessment);
  }
  const format = random.pick(formats);
  const items = random.sample([0, 1, 2, 3], 0.45).map((item): ReportedItem => ({
    item,
    level: random.between(0, 1),
    text: random.between(0, 1),
    locations: random.between(1, 2),
  }));
  const isUntimed = UNTIMED_FORMATS.some((name) => name === format);
  const content = {
    format,
    at: isUntimed ? null : dayOf(earlier),
    items,
    isNarrow: random.chance(0.3),
  };
  const draw = random.next();
  const assessment = isHostFormat(format) && draw < 0.4 ? null : !carries && draw > 0.8 ? 1 : 0;
  return step(content, assessment);
}

function chooseTouch(random: Random, index: number): Touch {
  const touches: readonly (() => Touch)[] = [
    () => ({ do: 'status', status: random.between(1, 9) }),
    () => ({ do: 'status', status: random.pick([2, 3, 5, 6]) }),
    () => ({ do: 'add-tag', tag: `person-${index}` }),
    () => ({ do: 'remove-tag', tag: random.pick(['scan-a', 'scan-b']) }),
    () => ({
      do: 'replace',
      fields: random.pick([
        { severity: 'Critical' },
        { title: `Item of person ${index}` },
        { description: `By a person ${index}` },
        { impact: `By a person ${index}`, description: `By a person ${index}` },
      ]),
    }),
    () => ({ do: 'attach' }),
    () => ({ do: 'comment' }),
    () => ({ do: 'retest', decision: random.pick(['verified', 'failed', 'blocked', 'cancelled']) }),
    () => ({
      do: 'bulk',
      set: random.pick([
        { statusId: random.pick([3, 5, 6, 7]) },
        { severity: 'Critical' },
        { dueOn: `2027-01-0${index + 1}` },
        { assigns: true },
        { addTags: [`person-${index}`] },
      ]),
    }),
    () => ({ do: 'scope', rule: `rule-${index}` }),
  ];
  return random.pick(touches)();
}
