import { gzipSync } from 'node:zlib';
import { Client, formBody } from './client.ts';
import { entry, zip } from '../harness/zip.ts';

/** The targets of an attacker, with and without access. */
export interface Target {
  client: Client;
  /** A client without a credential. */
  stranger: Client;
  assessment: string;
  vulnerability: number;
}

/** Sends a few requests. Repeated until the time is up. */
export type Attack = (target: Target) => Promise<unknown>;

const MIB = 1024 * 1024;
const upload = ({ client, assessment }: Target, format: string, report: string | Buffer, key?: string) => {
  const { headers, body } = formBody([
    ['format', format],
    ['assessment_id', assessment],
    ['file', report, 'report'],
  ]);
  const keyed = key === undefined ? headers : { ...headers, 'idempotency-key': key };
  return client.send('POST', '/v1/imports', { headers: keyed, body });
};
const together = (count: number, send: (index: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_, index) => send(index)));
const delay = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Small files whose format is expensive to detect. */
const UNRECOGNISABLE = [
  `<${'!'.repeat(MIB)}`,
  `<a ${'b=c '.repeat(MIB / 4)}`,
  `<!--${'-<'.repeat(MIB / 2)}`,
  `<!DOCTYPE a [${'<!ENTITY b "c">'.repeat(MIB / 16)}`,
  '['.repeat(MIB),
  '{"a":'.repeat(MIB / 5),
  '[{"a":1,'.repeat(MIB / 8),
  `[\n`.repeat(MIB / 2),
  ' '.repeat(MIB),
  `a,b,c\n${'"'.repeat(MIB)}`,
  ','.repeat(MIB),
].map((text) => gzipSync(text));

/** Reports that are expensive to read. */
const REPORTS: readonly (readonly [format: string, report: string | Buffer])[] = [
  ['nikto', JSON.stringify(niktoReport(' See: https://a '.repeat(MIB / 16)))],
  ['nikto', JSON.stringify(niktoReport(`x${' '.repeat(4 * MIB)}x`))],
  ['trivy', JSON.stringify(trivyReport(`A${'0'.repeat(4 * MIB)}-`))],
  ['generic', JSON.stringify({ findings: [{ title: 'a', description: '*a_'.repeat(MIB) }] })],
  ['generic', JSON.stringify({ findings: [{ title: 'a', url: `http://${'ü'.repeat(MIB)}/` }] })],
  ['csv', `${Array.from({ length: 1_000 }, (_, index) => `c${index}`).join(',')}\n${'a\n'.repeat(MIB)}`],
  ['nuclei', zip(entry('report.json', '{}'), ...skippedEntries(64, 16 * MIB))],
];

function niktoReport(message: string): object {
  return [{ host: 'a.example', ip: '192.0.2.1', port: '80', vulnerabilities: [{ id: '1', msg: message }] }];
}

function trivyReport(id: string): object {
  const finding = { VulnerabilityID: id, PkgName: 'a', InstalledVersion: '1', Severity: 'LOW', ID: id };
  return {
    SchemaVersion: 2,
    ArtifactName: 'a',
    ArtifactType: 'container_image',
    Results: [{ Target: 'a', Vulnerabilities: [finding], Misconfigurations: [finding] }],
  };
}

function skippedEntries(count: number, size: number): Buffer[] {
  const entryBytes = entry('__MACOSX/a', '\0'.repeat(size), { described: true });
  return Array.from({ length: count }, () => entryBytes);
}

/** Every attack by its name. Each runs with an account that has access and with one that has none. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  'files that are hard to recognise': (target) =>
    together(3, (index) => upload(target, 'auto', pick(UNRECOGNISABLE, index))),

  'reports that are hard to read': async (target) => {
    const [format, report] = pick(REPORTS, 0);
    await upload(target, format, report);
    await delay(1_000);
  },

  'fields that fill the memory': ({ client, assessment }) => {
    const fields = Array.from({ length: 2_100 }, () => ['targets', 'x'.repeat(4_096)] as const);
    return together(4, () =>
      client.send('POST', '/v1/imports', formBody([['assessment_id', assessment], ...fields])),
    );
  },

  'large lists': async ({ client }) => {
    await together(12, (index) =>
      client.send('GET', '/v1/vulnerabilities?page[size]=200', {
        headers: { 'accept-encoding': pick(['identity', 'br', 'gzip'], index) },
      }),
    );
  },

  'large lists that are not read': async ({ client }) => {
    const sockets = Array.from({ length: 12 }, (_, index) =>
      client.ignore('/v1/vulnerabilities?page[size]=200', pick(['identity', 'br', 'gzip'], index)),
    );
    await delay(5_000);
    for (const socket of sockets) socket.destroy();
  },

  'uploads that never end': async ({ client, assessment, vulnerability }) => {
    const content = Buffer.alloc(256 * 1024, 'x');
    const form = { 'content-type': 'multipart/form-data; boundary=x' };
    const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
    const field = `--x\r\ncontent-disposition: form-data; name="assessment_id"\r\n\r\n${assessment}\r\n`;
    const requests = Array.from({ length: 8 }, (_, index) => {
      const isImport = index % 2 === 0;
      const path = isImport ? '/v1/imports' : `/v1/vulnerabilities/${vulnerability}/attachments`;
      const request = client.open('POST', path, { ...form, 'idempotency-key': `never-${index}` });
      request.write(isImport ? field + head : head);
      return request;
    });
    for (let round = 0; round < 8; round += 1) {
      for (const request of requests) if (!request.destroyed) request.write(content);
      await delay(1_000);
    }
    for (const request of requests) request.destroy();
  },

  'bulk changes': async ({ client, vulnerability }) => {
    const cve = Array.from({ length: 1_000 }, (_, index) => `CVE-2024-${index + 1_000}`);
    const tags = Array.from({ length: 900 }, (_, index) => `tag ${index}`);
    const bulk = (body: object) => client.json('POST', '/v1/vulnerabilities/bulk_update', body);
    await bulk({ filter: { cve }, set: { status_id: 2 }, dry_run: true });
    await bulk({ filter: { status_id: [1, 2, 3] }, set: { add_tags: tags } });
    await bulk({
      filter: { status_id: [1, 2, 3] },
      set: { severity: 'Low' },
      comment: 'x'.repeat(65_000),
    });
    await bulk({ ids: [vulnerability], set: { add_tags: tags } });
    await bulk({ ids: [vulnerability], set: { tags: [] } });
    await delay(500);
  },

  'bodies of 4 MiB': async ({ client }) => {
    const bodies = [
      '['.repeat(4 * MIB),
      `[${'1,'.repeat(2 * MIB - 4)}1]`,
      `{"a":"${'\\u0000'.repeat(600_000)}"}`,
    ];
    await together(6, (index) =>
      client.send('POST', '/api/tagging/v1.0/organizations/x/tags', {
        headers: { 'content-type': 'application/json' },
        body: bodies[index % bodies.length] as string,
      }),
    );
  },

  searches: async ({ client }) => {
    const text = encodeURIComponent('a%_'.repeat(300));
    await together(6, () => client.send('GET', `/v1/vulnerabilities?filter[search]=${text}&sort=-title`));
    const cve = Array.from({ length: 600 }, (_, index) => `filter[cve][]=CVE-2024-${index + 1_000}`).join(
      '&',
    );
    await client.send('GET', `/v1/vulnerabilities?${cve}`);
    await client.send('GET', '/v1/vulnerabilities/summary');
    await delay(200);
  },

  'streams and exports': async ({ client }) => {
    const sockets = Array.from({ length: 24 }, () => client.ignore('/v1/imports/1/events'));
    await together(12, () =>
      client.send('GET', '/v1/vulnerabilities', { headers: { accept: 'application/x-ndjson' } }),
    );
    await delay(3_000);
    for (const socket of sockets) socket.destroy();
  },

  'silent connections': async ({ stranger }) => {
    const sockets = Array.from({ length: 300 }, () => stranger.connect());
    await delay(3_000);
    for (const socket of sockets) socket.destroy();
  },

  'long paths and odd methods': async ({ stranger }) => {
    await together(20, (index) =>
      stranger.send(index % 2 === 0 ? 'GET' : 'PROPFIND', `/${'a'.repeat(15_000)}`),
    );
    await delay(50);
  },
};

let attempt = 0;
function pick<T>(from: readonly T[], index: number): T {
  if (index === 0) attempt += 1;
  return from[(attempt + index) % from.length] as T;
}
