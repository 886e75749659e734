import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { testssl } from '../../../src/importers/formats/testssl/testssl.ts';
import { identityOf } from '../../../src/importers/finding-identity.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

// Made by scripts/fixtures/testssl.ts.
describeFormat(testssl);

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/testssl/${name}`, import.meta.url));
const entry = (members: object) => ({
  id: 'TLS1',
  ip: 'shop.example/192.0.2.1',
  port: '443',
  severity: 'LOW',
  finding: 'offered',
  ...members,
});
const recordsOf = async (...entries: object[]) =>
  (await readRecords(testssl, JSON.stringify(entries))).records;

describe('Findings of testssl.sh', () => {
  it('are the same in both kinds of its JSON', async () => {
    const identitiesIn = async (name: string) =>
      (await findingsOf(testssl, fixture(name))).map((finding) => identityOf(finding, 'testssl')).sort();
    const flat = await identitiesIn('flat.json');
    // The service is no entry where it is told of the whole server.
    const service = identityOf(
      { rule: 'service', title: '', severity: 'Informational', target: { host: '127.0.0.1', port: 8443 } },
      'testssl',
    );
    expect(await identitiesIn('pretty.json')).toEqual(flat.filter((identity) => identity !== service));
  });

  it('are one for each port, by whichever name it was asked', async () => {
    const records = await recordsOf(
      entry({}),
      entry({ ip: 'other.example/192.0.2.1' }),
      entry({ port: '8443' }),
      entry({ ip: 'shop.example/[2001:db8::1]' }),
    );
    const identities = records.flatMap((record) =>
      record.kind === 'finding' ? [identityOf(record.finding, 'testssl')] : [],
    );
    expect(identities[1]).toBe(identities[0]);
    expect(new Set(identities).size).toBe(3);
  });

  it('cover servers that were tested to the end', async () => {
    const records = await recordsOf(
      entry({ severity: 'OK' }),
      entry({ ip: 'down.example/192.0.2.9' }),
      entry({ ip: 'down.example/192.0.2.9', id: 'scanProblem', severity: 'FATAL', finding: 'no answer' }),
    );
    expect(records.filter(({ kind }) => kind === 'covered')).toEqual([
      { kind: 'covered', target: { host: '192.0.2.1', port: 443, protocol: 'tcp' } },
    ]);
  });
});
