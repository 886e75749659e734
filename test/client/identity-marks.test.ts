import { describe, expect, it } from 'vitest';
import { hueOf, initialsOf } from '../../client/src/identity-marks.ts';

describe('The mark of a person or an organization', () => {
  it.each([
    ['Leila Haddad', 'LH'],
    ['Maria del Carmen Ruiz', 'MR'],
    ['kestrel', 'KE'],
    ['kim.lee@example.com', 'KL'],
    ['Émile', 'ÉM'],
    ['@', ''],
  ])('of %s has the initials %s', (name, initials) => expect(initialsOf(name)).toBe(initials));

  it('has one of eight hues, always the same for an id', () => {
    expect([0, 7, 8, 21].map(hueOf)).toEqual([0, 7, 0, 5]);
    expect(hueOf('a')).toBe(97 % 8);
  });
});
