import { expect, it } from 'vitest';
import { AUDIT_ACTIONS as OFFERED } from '../../console/src/pages/audit/actions.ts';
import { ACTIONS } from '../../src/domain/audit/actions.ts';

it('The console offers every action of the audit log as a filter, in the order of the alphabet', () => {
  expect(OFFERED).toEqual([...ACTIONS].sort());
});
