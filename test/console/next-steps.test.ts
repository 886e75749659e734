import { describe, expect, it } from 'vitest';
import { mayDismissNext, nextStepOf } from '../../console/src/queries/next-steps.ts';

const NONE = { comment: false, triage: false, dismiss: false, decide_retest: false };
const READERS = {
  reader: NONE,
  developer: { ...NONE, comment: true },
  triager: { ...NONE, comment: true, triage: true },
  tester: { ...NONE, comment: true, triage: true, decide_retest: true },
};

describe('The next step', () => {
  it.each([
    ['reader', [undefined, undefined, undefined, 'wait', undefined, undefined]],
    ['developer', [undefined, 'startFix', 'requestRetest', 'wait', undefined, undefined]],
    ['triager', ['confirm', 'startFix', 'requestRetest', 'wait', undefined, undefined]],
    ['tester', ['confirm', 'startFix', 'requestRetest', 'decideRetest', undefined, undefined]],
  ] as const)('of a %s depends on the status', (reader, steps) => {
    expect(
      [1, 2, 3, 4, 5, 6].map((status_id) => nextStepOf({ id: 1, status_id, rights: READERS[reader] })),
    ).toEqual(steps);
  });

  it('is a retest whenever one is requested, and never without one', () => {
    const finding = { id: 1, rights: READERS.tester };
    expect(nextStepOf({ ...finding, status_id: 3, isRetestRequested: true })).toBe('decideRetest');
    expect(nextStepOf({ ...finding, status_id: 4, isRetestRequested: false })).toBe('requestRetest');
    expect(nextStepOf({ ...finding, status_id: 5, isRetestRequested: true })).toBeUndefined();
  });

  it('of a finding that waits for review may also be its dismissal', () => {
    const finding = { id: 1, rights: { ...NONE, dismiss: true } };
    expect(mayDismissNext({ ...finding, status_id: 1 })).toBe(true);
    expect(mayDismissNext({ ...finding, status_id: 2 })).toBe(false);
    expect(mayDismissNext({ id: 1, status_id: 1, rights: NONE })).toBe(false);
  });
});
