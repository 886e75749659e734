import { describe, expect, it } from 'vitest';
import { statusName } from '../../console/src/queries/statuses.ts';
import { STATUS_NAMES } from '../../src/domain/shared/statuses-and-severities.ts';

describe('Statuses in the console', () => {
  it.each([...STATUS_NAMES])('%i has the words of the API, "%s", in sentence case', (id, name) => {
    expect(statusName(id)).toBe(`${name[0]}${name.slice(1).toLowerCase()}`);
  });
});
