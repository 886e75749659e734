import { expect, it } from 'vitest';
import { defaultMapping } from '../../../src/importers/formats/csv/columns.ts';
import { csv } from '../../../src/importers/formats/csv/csv.ts';
import { identityOf } from '../../../src/importers/finding-identity.ts';
import { describeFormat, findingsOf, readRecords } from '../format-harness.ts';

describeFormat(csv);

it('reads only the columns of a mapping', async () => {
  const text = 'A,B,Host,Severity\nOne,critical,192.0.2.1,low\n';
  const mapping = { title: 'A', severity: 'B' };
  const [finding] = await findingsOf(csv, text, mapping);
  expect(finding).toMatchObject({ title: 'One', severity: 'Critical', target: undefined });
});

it.each([
  [{ title: 'X' }, /no column "X"/],
  [{ titel: 'A' }, /names "titel", which is not a field\. Use one of title, severity/],
  [{ severity: 'A' }, /No column contains the titles/],
  [undefined, /No column contains the titles/],
])('rejects the mapping %j', async (mapping, message) => {
  const { records, error } = await readRecords(csv, 'A,B\n1,2\n', mapping === undefined ? {} : { mapping });
  expect(records).toEqual([]);
  expect(error?.message).toMatch(message);
});

it('recognises common names of columns, each once', () => {
  expect(defaultMapping(['Vulnerability Name', 'Risk_Level', 'IP', 'CVSS Score', 'Notes', 'Name'])).toEqual({
    title: 'Name',
    severity: 'Risk_Level',
    host: 'IP',
    cvss_score: 'CVSS Score',
  });
});

it('merges rows with the same title and site into one finding, ignoring case and whitespace', async () => {
  const rows = [
    'Open  Redirect,high,https://a.example/x',
    'open redirect,low,https://a.example/y',
    'Other,low,https://a.example/x',
  ];
  const findings = await findingsOf(csv, `Title,Severity,URL\n${rows.join('\n')}\n`);
  const [one, again, other] = findings.map((finding) => identityOf(finding, 'csv'));
  expect(again).toBe(one);
  expect(other).not.toBe(one);
});
