import { expect, it } from 'vitest';
import { calculateCvssScore as scoreWhileTyped } from '../../console/src/pages/vulnerability/cvss-score.ts';
import { calculateCvssScore } from '../../src/domain/vulnerabilities/cvss.ts';

const COMPLETE_VECTORS = [
  'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
  'CVSS:3.0/AV:L/AC:H/PR:H/UI:R/S:C/C:L/I:N/A:N/E:P/RL:O/MAV:N',
  'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N/MSI:S/U:Amber',
];

it('CVSS: the console scores complete, truncated and invalid vectors as the server does', () => {
  for (const vector of COMPLETE_VECTORS) {
    const variants = ['/', '/X:1', '/E:Z', '/E', '/AV:N', '/C:H:H', '/mav:N', ' '].map((end) => vector + end);
    const cut = Array.from({ length: vector.length }, (_, length) => vector.slice(0, length));
    const odd = [vector.toLowerCase(), vector.replace('CVSS:', ''), vector.replace(/CVSS:.../, 'CVSS:2.0')];
    for (const typed of [vector, ...cut, ...variants, ...odd])
      expect([typed, scoreWhileTyped(typed)]).toEqual([typed, calculateCvssScore(typed.trim())]);
  }
});
