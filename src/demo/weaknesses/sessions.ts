import { text, type Weakness } from './weakness.ts';

export const SESSIONS: readonly Weakness[] = [
  {
    title: 'Authentication bypass in {place}',
    severity: 'Critical',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:N',
    category: ['Broken authentication', 'Missing second factor'],
    cwes: ['CWE-287', 'CWE-304'],
    description: text`
      The session that is issued after the password is as good as the one after the second factor. Whoever has the password
      leaves the page that asks for the code, and opens \`{path}\` directly.`,
    impact: 'The second factor protects nobody: a password from a leak is enough.',
    fix: 'Issue the session after the last step. Before it, keep a short-lived state that opens nothing but that step.',
    steps: [
      'Enter address and password of an account with a second factor.',
      'Open `https://{host}{path}` in place of entering the code.',
      'The page shows the account.',
    ],
    http: ['GET {path} HTTP/1.1\nHost: {host}\nCookie: session=(before the second factor)\n\n'],
    references: [
      'https://cheatsheetseries.owasp.org/cheatsheets/Multifactor_Authentication_Cheat_Sheet.html',
    ],
  },
  {
    title: 'JWT signature not verified in {place}',
    severity: 'High',
    vector: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:N',
    category: ['Broken authentication', 'Token not verified'],
    cwes: ['CWE-347'],
    description: text`
      \`{path}\` accepts a token with \`"alg": "none"\` and an empty signature. The claim \`sub\` says who one is. Identifiers of
      accounts stand in the addresses of profile pictures.`,
    impact: 'Whoever knows the identifier of an account acts as that account.',
    fix: 'Accept the one algorithm that is issued, with the keys of the issuer. Do not take the algorithm from the token.',
    steps: [
      'Take a token apart, set `alg` to `none` and `sub` to another account, and leave the signature empty.',
      'Send it to `https://{host}{path}`.',
    ],
    http: [
      'GET {path} HTTP/1.1\nHost: {host}\nAuthorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiI0MiJ9.\n\n',
    ],
    references: ['https://www.rfc-editor.org/rfc/rfc8725'],
  },
  {
    title: 'Password reset link follows the Host header in {place}',
    severity: 'High',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:N',
    category: ['Broken authentication', 'Password reset'],
    cwes: ['CWE-640'],
    description:
      'The mail that is sent from {place} has a link to the host that the request names in `X-Forwarded-Host`.',
    impact:
      'Whoever follows the link in a mail that really came from {host} gives the reset token to somebody else.',
    fix: 'Take the address from the configuration. Accept `X-Forwarded-Host` from the own proxy only.',
    steps: ['Ask for a reset of your own account with the header below.', 'Look at the link in the mail.'],
    http: [
      'POST {path} HTTP/1.1\nHost: {host}\nX-Forwarded-Host: elsewhere.example\nContent-Type: application/x-www-form-urlencoded\n\nemail=tester%40assay.example',
    ],
    references: ['https://cheatsheetseries.owasp.org/cheatsheets/Forgot_Password_Cheat_Sheet.html'],
  },
  {
    title: 'Missing rate limit in {place}',
    severity: 'Medium',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N',
    category: ['Broken authentication', 'Missing rate limit'],
    cwes: ['CWE-307'],
    description:
      'Ten thousand tries in a minute from one address were all answered, and the account was not locked. The code that is asked for has six digits.',
    impact: 'The code is found in under two hours.',
    fix: 'Slow tries down by account and by address, and end the code after five of them.',
    steps: [
      'Send `{path}` with 10,000 different values of `{parameter}`.',
      'Each is answered with 401, none with 429.',
    ],
    http: ['POST {path} HTTP/1.1\nHost: {host}\nContent-Type: application/json\n\n{"{parameter}":"000001"}'],
    references: ['https://owasp.org/www-community/controls/Blocking_Brute_Force_Attacks'],
  },
  {
    title: 'User enumeration in {place}',
    severity: 'Medium',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N',
    category: ['Broken authentication', 'Different answers'],
    cwes: ['CWE-204'],
    description: text`
      | Address | Answer | Time |
      | --- | --- | --- |
      | has an account | "Check your mail." | 410 ms |
      | has none | "Check your mail." | 38 ms |

      The words are the same, the time is not: the mail is sent before the answer.`,
    impact: 'A list of addresses is sorted into those that have an account and those that do not.',
    fix: 'Put the mail into a queue and answer at once.',
    steps: [
      'Ask ten times for an address with an account and ten times for one without.',
      'Compare the times.',
    ],
    references: ['https://cheatsheetseries.owasp.org/cheatsheets/Authentication_Cheat_Sheet.html'],
  },
  {
    title: 'Weak password policy in {place}',
    severity: 'Medium',
    vector: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:L/A:N',
    category: ['Broken authentication', 'Weak passwords'],
    cwes: ['CWE-521'],
    description:
      'Passwords of six letters are accepted, `123456` and the name of the company among them. Longer ones than 16 characters are cut without a word.',
    impact: 'Of 40 accounts that agreed to the test, 3 had one of the hundred most frequent passwords.',
    fix: 'Ask for at least 12 characters, accept at least 64, and refuse what stands in lists of leaked passwords.',
    steps: ['Set the password `123456` in {place}.', 'It is accepted.'],
    references: ['https://pages.nist.gov/800-63-4/sp800-63b.html'],
  },
  {
    title: 'Session not ended at sign-out in {place}',
    severity: 'Medium',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:L/I:L/A:N',
    category: ['Broken authentication', 'Session lifetime'],
    cwes: ['CWE-613'],
    description:
      'Signing out deletes the cookie in the browser. The session lives on: an hour later, the old cookie still opens {place}.',
    impact: 'On a shared computer, who finds the cookie goes on with the session.',
    fix: 'Delete the session on the server when its user signs out, changes the password or is blocked.',
    steps: ['Note the cookie, and sign out.', 'Open `https://{host}{path}` with the cookie an hour later.'],
    http: ['GET {path} HTTP/1.1\nHost: {host}\nCookie: session=(signed out an hour ago)\n\n'],
    references: ['https://cheatsheetseries.owasp.org/cheatsheets/Session_Management_Cheat_Sheet.html'],
  },
  {
    title: 'Cookie without SameSite in {place}',
    severity: 'Low',
    vector: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:N/I:L/A:N',
    category: ['Misconfiguration', 'Cookies'],
    cwes: ['CWE-1275'],
    description:
      'The session cookie goes along with requests from other sites, in browsers that have no default of their own.',
    impact: 'It takes away a protection that would cost nothing.',
    fix: 'Set `SameSite=Lax; Secure; HttpOnly`.',
    steps: ['Sign in, and look at `Set-Cookie`.'],
    http: ['HTTP/1.1 200 OK\nSet-Cookie: session=8f14e45f; Path=/; HttpOnly\n\n'],
    references: ['https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie'],
  },
];
