/** A line of a Nuclei report. */
export const REPORT = JSON.stringify({
  'template-id': 'waf-detect',
  info: { name: 'WAF Detection', severity: 'info' },
  type: 'http',
  host: 'https://shop.acme.example',
  'matched-at': 'https://shop.acme.example/',
  timestamp: '2026-11-20T10:00:00Z',
});

/** A program that uses the client and prints `404 not-found title`. */
export const CLIENT_USAGE = `import { AssayError, createClient, type UpdatedVulnerability } from '@assay/client';

const body = { type: 'https://assay.example/problems/v1/not-found', failedValidation: [{ property: 'title', message: '' }] };
const client = createClient({
  server: 'https://assay.example',
  token: 'x',
  fetch: async () => Response.json(body, { status: 404 }),
});
try {
  const { data } = await client.PATCH('/v1/vulnerabilities/{id}', { params: { path: { id: 1 } }, body: { status_id: 5 } });
  const vulnerability: UpdatedVulnerability = data;
  console.log(vulnerability.title);
  // @ts-expect-error The status is a number.
  await client.PATCH('/v1/vulnerabilities/{id}', { params: { path: { id: 1 } }, body: { status_id: 'Fixed' } });
} catch (error) {
  if (error instanceof AssayError) console.log(error.status, error.kind, error.fieldErrors[0]?.property);
}
`;
