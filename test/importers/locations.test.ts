import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { REPORT_FORMATS } from '../../src/importers/formats/index.ts';
import { csv } from '../../src/importers/formats/csv/csv.ts';
import { generic } from '../../src/importers/formats/generic/generic.ts';
import { normalizeFinding } from '../../src/importers/normalize-finding.ts';
import type { ReportedFinding, ReportFormat } from '../../src/importers/report.ts';
import { findingsOf } from './format-harness.ts';

const FIXTURES = new URL('../fixtures/', import.meta.url);

const locationsOf = async (format: ReportFormat, report: string) =>
  (await findingsOf(format, report)).flatMap((finding) => normalizeFinding(finding).locations);

const finding = (changes: Partial<ReportedFinding>): ReportedFinding => ({
  rule: 'r',
  title: 'T',
  severity: 'Low',
  ...changes,
});

describe('the locations of a finding', () => {
  it.each([
    ['192.0.2.1', 443, { type: 'ip', value: 'tcp://192.0.2.1:443', address: '192.0.2.1' }],
    ['2001:DB8:0::1', 443, { type: 'ip', value: 'tcp://[2001:db8::1]:443', address: '2001:db8::1' }],
    ['WWW.example.com', 443, { type: 'other', value: 'www.example.com:443', address: 'www.example.com' }],
    ['-not a host-', 443, { type: 'other', value: '-not a host-:443', address: '-not a host-' }],
  ])('keep host and port: %s', (host, port, expected) => {
    const { locations } = normalizeFinding(finding({ target: { host, port, protocol: 'tcp' } }));
    expect(locations).toEqual([{ ...expected, port: 443, protocol: 'tcp' }]);
  });

  it.each([
    ['192.0.2.1', { type: 'ip', value: '192.0.2.1', address: '192.0.2.1' }],
    ['www.example.com', { type: 'other', value: 'www.example.com', address: 'www.example.com' }],
  ])('keep a host without a port: %s', (host, expected) => {
    const { locations } = normalizeFinding(finding({ target: { host } }));
    expect(locations).toEqual([{ ...expected, port: null, protocol: null }]);
  });

  it('keep what is valid if another member is not', () => {
    const location = { type: 'ip', value: 'shop:443', address: 'shop', port: 443, protocol: 'tcp' } as const;
    const { locations } = normalizeFinding(finding({ locations: [location] }));
    expect(locations).toEqual([{ ...location, type: 'other' }]);
  });

  it('are counted once', () => {
    const location = { type: 'url', value: 'https://shop.example/' } as const;
    const { locations, locationCount } = normalizeFinding(
      finding({ locations: [location, { ...location }] }),
    );
    expect([locations.length, locationCount]).toEqual([1, 1]);
  });

  it('keep address, port and protocol in CSV', async () => {
    const report = 'Title,Severity,Host,Port,Protocol\nA,Low,192.0.2.1,53,udp\nB,Low,www.example.com,53,\n';
    expect(await locationsOf(csv, report)).toEqual([
      { type: 'ip', value: 'udp://192.0.2.1:53', address: '192.0.2.1', port: 53, protocol: 'udp' },
      { type: 'other', value: 'www.example.com:53', address: 'www.example.com', port: 53, protocol: 'tcp' },
    ]);
  });

  it('keep address, port and protocol in generic reports', async () => {
    const endpoints = ['192.0.2.1:25', { host: 'mail.example.com', port: 25, protocol: 'tcp' }];
    const report = JSON.stringify({ findings: [{ title: 'A', severity: 'Low', endpoints }] });
    expect(await locationsOf(generic, report)).toEqual([
      { type: 'ip', value: 'tcp://192.0.2.1:25', address: '192.0.2.1', port: 25, protocol: 'tcp' },
      { type: 'other', value: 'mail.example.com:25', address: 'mail.example.com', port: 25, protocol: 'tcp' },
    ]);
  });
});

describe.each(REPORT_FORMATS.filter(({ hasFindings }) => hasFindings))('$name', (format) => {
  const folder = new URL(`${format.name}/`, FIXTURES);
  const files = readdirSync(folder).filter((file) => !file.endsWith('.records.json'));

  it.each(files)('keeps host, port and protocol of every target: %s', async (file) => {
    for (const imported of await findingsOf(format, readFileSync(new URL(file, folder)))) {
      const { target } = imported;
      if (target === undefined || !('host' in target)) continue;
      const { locations } = normalizeFinding(imported);
      expect(locations.length).toBeGreaterThan(0);
      for (const location of locations) {
        if (location.type === 'url') continue;
        expect(location).toMatchObject({
          type: expect.stringMatching(/^(ip|other)$/),
          address: expect.any(String),
          port: target.port ?? null,
          protocol: target.port === undefined ? null : (target.protocol ?? 'tcp'),
        });
      }
    }
  });
});
