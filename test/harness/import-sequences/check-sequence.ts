import type { Database } from '../../../src/db/database.ts';
import { dayOf, type ImportStep, type Sequence } from './generate.ts';
import { SequenceOrganization, type Touched } from './organization.ts';
import { FINDING_FORMATS, ownTimeOf, reportText, type SequenceFormat } from './reports.ts';
import type { OrganizationState } from './state.ts';
import type { Person } from './touches.ts';

/** An import of a sequence. */
interface Upload {
  step: ImportStep;
  /** The time of its report, or of its upload. */
  ownTime: number;
  /** Its position among all events. */
  order: number;
}

/** A time after every sequence. */
const END = dayOf(30);

/**
 * Runs a sequence in one organization. Then imports the remaining reports into another one in the order of their times,
 * each at the time of the report, and repeats the changes of people at their times.
 * @returns the differences of the organizations; none if the order of imports and undos does not matter
 */
export async function differencesAfter(
  db: Database,
  person: Person,
  { steps, hasDecisions }: Sequence,
): Promise<string[]> {
  const decided = hasDecisions ? findingFormatsOf(steps) : [];
  const organization = await SequenceOrganization.create(db, person, decided);
  const imports = new Map<number, Upload & { id: number }>();
  const touches: (Touched & { order: number })[] = [];
  for (const [order, step] of steps.entries()) {
    switch (step.kind) {
      case 'import': {
        const ownTime = ownTimeOf(step.content) ?? step.options.scannedAt ?? step.at;
        imports.set(step.key, { step, ownTime, order, id: await organization.import(step) });
        break;
      }
      case 'undo': {
        const undone = imports.get(step.key);
        if (undone === undefined) break;
        imports.delete(step.key);
        await organization.undo(undone.id, step.at);
        break;
      }
      case 'touch': {
        const touched = await organization.touch(step);
        if (touched !== undefined) touches.push({ ...touched, order });
      }
    }
  }
  const importsInOrder = inOrderOfTime([...imports.values()]);
  const names = new Map(importsInOrder.map(({ id, step }) => [id, `import ${step.key}`]));
  const actual = await organization.readState(namesOf(names), END);
  const reference = await replay(db, person, { decided, importsInOrder, touches });
  return compare(actual, reference.state, {
    touched: new Set(touches.map(({ key }) => key)),
    unclear: reference.unclear,
  });
}

const findingFormatsOf = (steps: Sequence['steps']): SequenceFormat[] => {
  const formats = new Set(steps.flatMap((step) => (step.kind === 'import' ? [step.content.format] : [])));
  return FINDING_FORMATS.filter((format) => formats.has(format));
};

const namesOf =
  (names: ReadonlyMap<number, string>) =>
  (id: number | null): string | null =>
    id === null ? null : (names.get(id) ?? 'another import');

/**
 * Identical bytes have the time of their earliest import. Of equal times, the later upload wins.
 * @returns the imports with these times, in order
 */
function inOrderOfTime<U extends Upload>(uploads: readonly U[]): (U & { time: number })[] {
  const keyOf = ({ step }: Upload) => `${step.assessment} ${reportText(step.content)}`;
  const earliest = new Map<string, number>();
  for (const upload of uploads)
    earliest.set(keyOf(upload), Math.min(upload.ownTime, earliest.get(keyOf(upload)) ?? upload.ownTime));
  return uploads
    .map((upload) => ({ ...upload, time: earliest.get(keyOf(upload)) ?? upload.ownTime }))
    .sort((one, other) => one.time - other.time || one.order - other.order);
}

/** @returns the state, and the keys of the objects whose changes cannot be repeated */
async function replay(
  db: Database,
  person: Person,
  {
    decided,
    importsInOrder,
    touches,
  }: {
    decided: readonly SequenceFormat[];
    importsInOrder: readonly (Upload & { time: number })[];
    touches: readonly (Touched & { order: number })[];
  },
): Promise<{ state: OrganizationState; unclear: Set<string> }> {
  const organization = await SequenceOrganization.create(db, person, decided);
  const names = new Map<number, string>();
  const unclear = new Set<string>();
  const remaining = [...touches];
  const touchUntil = async (time: number): Promise<void> => {
    for (let [next] = remaining; next !== undefined && next.at < time; [next] = remaining) {
      remaining.shift();
      if (!(await organization.repeat(next, false))) unclear.add(next.key);
    }
  };
  for (const { step, time } of importsInOrder) {
    // A change at the time of a report follows it.
    await touchUntil(time);
    const options = { ...step.options, scannedAt: time };
    names.set(await organization.import({ ...step, options, at: time }), `import ${step.key}`);
  }
  await touchUntil(Infinity);
  return { state: await organization.readState(namesOf(names), END), unclear };
}

/**
 * @param touched the objects that people changed, which no undo may delete
 * @param unclear changed objects that no remaining import had created at the time: only their existence is compared
 */
function compare(
  actual: OrganizationState,
  expected: OrganizationState,
  { touched, unclear }: { touched: ReadonlySet<string>; unclear: ReadonlySet<string> },
): string[] {
  const exists = (key: string): boolean => actual.findings.has(key) || actual.assets.has(key);
  const excused = new Set(unclear);
  for (const [key, { assets }] of actual.findings)
    if (unclear.has(key)) for (const asset of assets) excused.add(asset);
  const assetOf = (key: string): string => key.split(' in assessment')[0] ?? key;
  return [
    ...[...touched].filter((key) => !exists(key)).map((key) => `${key} was touched, and is gone`),
    ...differencesOf('finding', actual.findings, expected.findings, (key) => unclear.has(key)),
    ...differencesOf('asset', actual.assets, expected.assets, (key) => excused.has(key)),
    ...differencesOf('listing', actual.listings, expected.listings, (key) => excused.has(assetOf(key))),
    ...differencesOf('port', actual.ports, expected.ports, () => false),
    ...actual.miscounts,
    ...expected.miscounts.map((text) => `in order: ${text}`),
  ];
}

function differencesOf(
  kind: string,
  actual: ReadonlyMap<string, Record<string, unknown>>,
  expected: ReadonlyMap<string, Record<string, unknown>>,
  isExcused: (key: string) => boolean,
): string[] {
  return [...new Set([...actual.keys(), ...expected.keys()])].sort().flatMap((key) => {
    const [actualFacts, expectedFacts] = [actual.get(key), expected.get(key)];
    if (isExcused(key)) return [];
    if (actualFacts === undefined) return [`${kind} ${key} is missing`];
    if (expectedFacts === undefined) return [`${kind} ${key} must not be there`];
    return Object.keys(expectedFacts).flatMap((name) => {
      const [value, expectedValue] = [JSON.stringify(actualFacts[name]), JSON.stringify(expectedFacts[name])];
      return value === expectedValue
        ? []
        : [`${kind} ${key}: ${name} is ${value}, in order ${expectedValue}`];
    });
  });
}
