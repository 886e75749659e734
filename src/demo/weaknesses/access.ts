import { text, type Weakness } from './weakness.ts';

export const ACCESS: readonly Weakness[] = [
  {
    title: 'Insecure direct object reference in {place}',
    severity: 'High',
    vector: 'CVSS:4.0/AV:N/AC:L/AT:N/PR:L/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N',
    category: ['Broken access control', 'Missing check of the object'],
    cwes: ['CWE-639'],
    description: text`
      \`{path}\` gives any {record} by its number to whoever is signed in. Numbers are given one after the other, so that
      counting up shows the {record}s of all customers. We looked at three that were made for this test.`,
    impact: 'Every customer reads the {record}s of every other, with names, addresses and prices.',
    fix: text`
      Ask for each {record} whether the caller's organization owns it, in the statement that reads it. A test that takes
      every route with an identifier and asks as somebody else would find the next one.`,
    steps: [
      'Sign in as customer A, open a {record} and note its number.',
      'Sign in as customer B and open `https://{host}{path}/` with that number.',
      "The answer is customer A's {record}.",
    ],
    http: [
      'GET {path}/104872 HTTP/1.1\nHost: {host}\nAuthorization: Bearer (customer B)\n\n',
      'HTTP/1.1 200 OK\nContent-Type: application/json\n\n{"id":104872,"owner":"customer-a","{parameter}":"private"}',
    ],
    references: [
      'https://cheatsheetseries.owasp.org/cheatsheets/Insecure_Direct_Object_Reference_Prevention_Cheat_Sheet.html',
      'https://owasp.org/API-Security/editions/2023/en/0xa1-broken-object-level-authorization/',
    ],
  },
  {
    title: 'Privilege escalation by changing the role in {place}',
    severity: 'High',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:N',
    category: ['Broken access control', 'Mass assignment'],
    cwes: ['CWE-915', 'CWE-269'],
    description: text`
      \`PATCH {path}\` saves every member of the body that is a column of the table. The form sends three; \`role\` is taken
      as well. With \`"role": "administrator"\` the menu of administrators appears at once.`,
    impact: 'Any user becomes administrator of {host}.',
    fix: 'List the members that a user may change, and refuse the others. Roles are changed elsewhere, by administrators.',
    steps: [
      'Sign in as an ordinary user and save {place} once.',
      'Send the same request with `"role": "administrator"` added.',
      'Load the page again: it shows the administration.',
    ],
    http: [
      'PATCH {path} HTTP/1.1\nHost: {host}\nContent-Type: application/json\n\n{"{parameter}":"x","role":"administrator"}',
    ],
    references: ['https://cheatsheetseries.owasp.org/cheatsheets/Mass_Assignment_Cheat_Sheet.html'],
  },
  {
    title: 'Path traversal in {place}',
    severity: 'High',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N',
    category: ['Broken access control', 'Path traversal'],
    cwes: ['CWE-22'],
    description: text`
      The file that \`{parameter}\` names is read from a folder, and \`../\` leads out of it. The slash is filtered once, so
      that \`..././\` becomes \`../\`.`,
    impact:
      'Whoever can reach {host} reads any file that the service may read, its settings and keys among them.',
    fix: 'Resolve the name and compare the start of the result with the folder. Better: take an identifier, and no name.',
    steps: ['Send the request below.', 'The answer is the list of accounts of the machine.'],
    http: [
      'GET {path}?{parameter}=..././..././..././etc/passwd HTTP/1.1\nHost: {host}\n\n',
      'HTTP/1.1 200 OK\nContent-Type: application/octet-stream\n\nroot:x:0:0:root:/root:/bin/bash\n',
    ],
    references: ['https://owasp.org/www-community/attacks/Path_Traversal'],
  },
  {
    title: 'Missing check of the role in {place}',
    severity: 'High',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:L/A:N',
    category: ['Broken access control', 'Missing check of the function'],
    cwes: ['CWE-862'],
    description: text`
      The menu hides the export of {record}s from ordinary users; the address behind it answers them all the same. The
      other twelve addresses under \`{path}\` check the role.`,
    impact: 'Every user exports all {record}s of the organization, those of other departments too.',
    fix: 'Check the role on the server, in one place for all addresses under this path, and refuse what names no role.',
    steps: ['Sign in as a user without the role.', 'Open `https://{host}{path}/export.csv`.'],
    http: ['GET {path}/export.csv HTTP/1.1\nHost: {host}\nAuthorization: Bearer (ordinary user)\n\n'],
    references: ['https://owasp.org/API-Security/editions/2023/en/0xa5-broken-function-level-authorization/'],
  },
  {
    title: 'Cross-site request forgery in {place}',
    severity: 'Medium',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:N/I:H/A:N',
    category: ['Broken access control', 'Cross-site request forgery'],
    cwes: ['CWE-352'],
    description: text`
      The form of {place} carries a token, and the server accepts the request without it. The session cookie has
      \`SameSite=None\`, so that a page on another site can send the form in the name of whoever visits it.`,
    impact: 'A page elsewhere changes a {record} of a signed-in visitor.',
    fix: 'Compare the token, and refuse requests without one. `SameSite=Lax` is enough for this cookie.',
    steps: [
      'Save a page with a form that sends `{parameter}` to `https://{host}{path}`, and open it from a disk.',
      'Sign in to {host} in the same browser, and submit the form.',
      'The {record} has changed.',
    ],
    http: [
      'POST {path} HTTP/1.1\nHost: {host}\nOrigin: https://elsewhere.example\nContent-Type: application/x-www-form-urlencoded\n\n{parameter}=changed',
    ],
    references: [
      'https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html',
    ],
  },
  {
    title: 'CORS policy trusts any origin in {place}',
    severity: 'Medium',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:H/I:N/A:N',
    category: ['Broken access control', 'Cross-origin policy'],
    cwes: ['CWE-942'],
    description:
      'Every `Origin` comes back in `Access-Control-Allow-Origin`, together with `Access-Control-Allow-Credentials: true`.',
    impact: 'A page on any site reads {record}s of a visitor who is signed in to {host}.',
    fix: 'List the origins that may ask, and compare them whole. Without need for cookies, leave the second header away.',
    steps: ['Send the request below.', 'The answer allows the origin, with credentials.'],
    http: [
      'GET {path} HTTP/1.1\nHost: {host}\nOrigin: https://elsewhere.example\n\n',
      'HTTP/1.1 200 OK\nAccess-Control-Allow-Origin: https://elsewhere.example\nAccess-Control-Allow-Credentials: true\n\n',
    ],
    references: ['https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CORS'],
  },
  {
    title: 'Price is taken from the request in {place}',
    severity: 'Medium',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:N/I:H/A:N',
    category: ['Business logic', 'Trust in the client'],
    cwes: ['CWE-602'],
    description: text`
      The last step of {place} sends the sum that the page has worked out, and the server takes it. A {record} of 480.00 EUR
      was accepted for 0.01 EUR; the confirmation shows the lower sum.`,
    impact: 'Customers choose what they pay. Nothing later in the process compares the sums.',
    fix: 'Work out the sum on the server from the {record}, and refuse another one.',
    steps: ['Fill in {place} up to the last step.', 'Change `total` to `0.01` in the last request.'],
    http: [
      'POST {path} HTTP/1.1\nHost: {host}\nContent-Type: application/json\n\n{"{parameter}":"104872","total":0.01}',
    ],
    references: ['https://owasp.org/www-community/vulnerabilities/Business_logic_vulnerability'],
  },
  {
    title: 'Race condition in {place}',
    severity: 'Medium',
    vector: 'CVSS:3.1/AV:N/AC:H/PR:L/UI:N/S:U/C:N/I:H/A:N',
    category: ['Business logic', 'Race condition'],
    cwes: ['CWE-362'],
    description:
      'A voucher counts once. Twenty requests at the same time were accepted seven times, as it is looked at and used up in two steps.',
    impact: 'A voucher of 50 EUR was worth 350 EUR.',
    fix: 'Use it up in one statement that says how many rows it changed, or hold the row while it is looked at.',
    steps: ['Prepare twenty times the request below.', 'Send them together over one HTTP/2 connection.'],
    http: ['POST {path} HTTP/1.1\nHost: {host}\nContent-Type: application/json\n\n{"voucher":"SPRING-50"}'],
    references: ['https://portswigger.net/web-security/race-conditions'],
  },
];
