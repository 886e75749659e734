import { describe, expect, it } from 'vitest';
import { bestCvss } from '../../../src/importers/parsing/severity-and-cvss.ts';

const METRICS_3 = 'AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H';
const METRICS_4 = 'AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N';

describe('bestCvss', () => {
  it.each([
    [`CVSS:3.0/${METRICS_3}`, undefined, `CVSS:3.0/${METRICS_3}`],
    [METRICS_3, '3.0', `CVSS:3.0/${METRICS_3}`],
    [METRICS_3, '3.1', `CVSS:3.1/${METRICS_3}`],
    [METRICS_3, undefined, `CVSS:3.1/${METRICS_3}`],
    [`(${METRICS_3})`, undefined, `CVSS:3.1/${METRICS_3}`],
    [`CVSS3#${METRICS_3}`, undefined, `CVSS:3.1/${METRICS_3}`],
    [`CVSS:3.1/${METRICS_3}/`, undefined, `CVSS:3.1/${METRICS_3}`],
    [METRICS_4, undefined, `CVSS:4.0/${METRICS_4}`],
  ])('completes the vector %s of version %s', (vector, version, expected) => {
    const { cvssScore, cvssVector } = bestCvss([{ vector, version }]);
    expect(cvssVector).toBe(expected);
    expect(cvssScore).toBeGreaterThan(7);
  });

  it('keeps only the score of CVSS 2.0', () => {
    for (const vector of [
      'AV:N/AC:L/Au:N/C:N/I:N/A:C',
      '(AV:N/AC:L/Au:N/C:N/I:N/A:C)',
      'CVSS2#AV:N/AC:L/Au:N/C:N/I:N/A:C',
    ])
      expect(bestCvss([{ vector, score: 7.8 }])).toEqual({ cvssScore: 7.8 });
  });

  it('ignores what is no vector', () => {
    for (const vector of ['AV:N', 'x'.repeat(100_000), 'CVSS:3.1/AV:N'])
      expect(bestCvss([{ vector, score: 5 }])).toEqual({ cvssScore: 5 });
  });
});
