import { type Severity, VULNERABILITY_STATUSES } from '../domain/vulnerabilities/catalogue.ts';
import type { NewVulnerability } from '../domain/vulnerabilities/vulnerabilities.ts';
import type { Chance } from './chance.ts';

/** What testers find: how it is called, how bad it is, what it means and what helps. */
const KINDS: readonly (readonly [what: string, severity: Severity, score: number | null, text: string])[] = [
  [
    'SQL injection',
    'Critical',
    9.8,
    'A parameter reaches the query unescaped, so that one request reads the whole table. Bind it instead.',
  ],
  [
    'Remote code execution through file upload',
    'Critical',
    9.9,
    'An uploaded file is stored under the web root and run by the server. Store it elsewhere, and check what it is.',
  ],
  [
    'Authentication bypass',
    'Critical',
    9.1,
    'The session is accepted before the second factor was asked for. Issue it after the last step only.',
  ],
  [
    'Deserialization of untrusted data',
    'Critical',
    9.0,
    'A cookie is deserialized into arbitrary classes. Use a format that holds data alone, and sign it.',
  ],
  [
    'Stored cross-site scripting',
    'High',
    7.6,
    'Text that one user saves runs as script in the browser of another. Escape it where it is shown.',
  ],
  [
    'Insecure direct object reference',
    'High',
    7.5,
    'Counting up the number in the address shows the records of other customers. Check who asks for each of them.',
  ],
  [
    'Server-side request forgery',
    'High',
    8.2,
    'The address to fetch is taken from the request, so that internal services answer. Allow known hosts only.',
  ],
  [
    'Privilege escalation by changing the role',
    'High',
    8.1,
    'The role is part of the profile that users may save. Ignore it there.',
  ],
  [
    'XML external entity injection',
    'High',
    7.7,
    'The parser resolves external entities and returns local files. Switch them off.',
  ],
  [
    'JWT signature not verified',
    'High',
    8.6,
    'A token with the algorithm "none" is accepted. Accept the algorithm that is issued, and no other.',
  ],
  [
    'Path traversal',
    'High',
    7.5,
    'Dots in the file name lead out of the folder. Resolve the name and compare its start.',
  ],
  [
    'Reflected cross-site scripting',
    'Medium',
    6.1,
    'The search term is repeated in the page as it came. Escape it, and forbid inline script.',
  ],
  [
    'Cross-site request forgery',
    'Medium',
    6.5,
    'A page elsewhere can submit the form for a signed-in user. Ask for a token that it cannot know.',
  ],
  [
    'Missing rate limit',
    'Medium',
    5.3,
    'Ten thousand tries in a minute were all answered. Slow them down by account and by address.',
  ],
  [
    'User enumeration',
    'Medium',
    5.3,
    'The answer differs for addresses that have an account. Give the same one in the same time.',
  ],
  [
    'Open redirect',
    'Medium',
    4.7,
    'The page sends visitors to any address in its parameter. Accept relative paths only.',
  ],
  [
    'Weak password policy',
    'Medium',
    5.0,
    'Passwords of six letters are accepted, also leaked ones. Ask for length, and refuse known ones.',
  ],
  [
    'Session not ended at sign-out',
    'Medium',
    5.4,
    'The old cookie still works an hour after signing out. End the session on the server.',
  ],
  [
    'CORS policy trusts any origin',
    'Medium',
    6.5,
    'Every origin is echoed, with credentials. List those that may ask.',
  ],
  [
    'Sensitive data in the log',
    'Medium',
    4.9,
    'Card numbers stand in the access log. Keep them out of addresses.',
  ],
  ['Outdated TLS versions', 'Low', 3.7, 'TLS 1.0 and 1.1 are still offered. Switch them off.'],
  [
    'Cookie without SameSite',
    'Low',
    3.1,
    'The session cookie goes along with requests from other sites. Set SameSite=Lax.',
  ],
  [
    'Missing content security policy',
    'Low',
    3.1,
    'Nothing limits which scripts may run. Begin with a policy that only reports.',
  ],
  [
    'Verbose error message',
    'Low',
    3.7,
    'The error page shows file names and versions. Show a number, and keep the rest in the log.',
  ],
  ['Directory listing', 'Low', 3.7, 'The folder shows its files to everyone. Switch the listing off.'],
  [
    'Software version disclosed',
    'Informational',
    null,
    'The header names the product and its version. That helps only those who look for old ones.',
  ],
  [
    'No security.txt',
    'Informational',
    null,
    'Who finds something has nobody to write to. Put an address at /.well-known/security.txt.',
  ],
  [
    'Autocomplete on a sensitive field',
    'Informational',
    null,
    'The browser offers to remember the card number. Switch it off for this field.',
  ],
];

const EVIDENCE = [
  ['request.http', 'text/plain'],
  ['response.html', 'text/html'],
  ['screenshot.png', 'image/png'],
  ['proof-of-concept.py', 'text/x-python'],
  ['session.har', 'application/json'],
  ['recording.mp4', 'video/mp4'],
] as const;

/**
 * @param places where in the product they were found
 * @param tagIds tags to choose from
 * @returns that many vulnerabilities: every severity and every status, some with attachments, some without a score
 */
export function findingsOf(
  assessment: string,
  count: number,
  places: readonly string[],
  tagIds: readonly number[],
  chance: Chance,
): NewVulnerability[] {
  return Array.from({ length: count }, (_nothing, index): NewVulnerability => {
    const [what, severity, score, text] = KINDS[index % KINDS.length] as (typeof KINDS)[number];
    const place = places[(index + Math.floor(index / KINDS.length) * 3) % places.length] as string;
    const status = VULNERABILITY_STATUSES[(index * 5) % VULNERABILITY_STATUSES.length]?.id ?? 1;
    const attachments = chance.happens(30) ? EVIDENCE.filter(() => chance.happens(35)) : [];
    return {
      assessment,
      title: `${what} in ${place}`,
      description: text,
      severity,
      statusId: status,
      // Nobody has scored what nobody has looked at.
      cvssScore: status === 1 && chance.happens(50) ? null : score,
      tagIds: tagIds.filter(() => chance.happens(20)),
      attachments: attachments.map(([filename, contentType]) => ({
        filename,
        contentType,
        fileSize: chance.between(800, 900_000),
      })),
    };
  });
}
