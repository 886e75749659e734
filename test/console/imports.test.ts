import { describe, expect, it } from 'vitest';
import { parseFirstRow } from '../../console/src/pages/imports/csv-columns.ts';
import { formatLabel, formatSize } from '../../console/src/pages/imports/formats.ts';
import { importMessages } from '../../console/src/pages/imports/messages.ts';
import { outcomeText } from '../../console/src/pages/imports/outcome.ts';
import { queryMessages } from '../../console/src/queries/messages.ts';

const { result, file, page } = importMessages;

describe('Console messages: imports', () => {
  it.each([
    [result.processed(40), '40% processed'],
    [result.secondsLeft(12), '12 s left'],
    [result.assetsUpdated(2), 'assets updated'],
    [result.portsOpened(1), 'port opened'],
    [result.portsClosed(0), 'ports closed'],
    [result.firstOf(20, 1_113), 'The first 20 of 1,113.'],
  ])('describe the result of an import: %s', (text, expected) => {
    expect(text).toBe(expected);
  });

  it.each([
    [result.atLine(result.invalidReport, 1_200), 'Invalid report, first at line 1,200'],
    [result.atByte(result.invalidReport, 98_304), 'Invalid report, first at byte 98,304'],
    [result.atLine('(no severity)', 3), '(no severity), first at line 3'],
    [file.invalidFile('has an unrecognised format'), 'The file has an unrecognised format.'],
  ])('locate an error in the report: %s', (text, expected) => {
    expect(text).toBe(expected);
  });

  it('say what an undo deletes and restores', () => {
    expect(page.undoWarning(1, 2)).toContain('up to 1 finding and 2 assets that only this import created');
    const undone = queryMessages.import.undoResult({ findings: 2, assets: 1, statuses: 0 });
    expect(undone).toBe('2 findings and 1 asset deleted, 0 statuses restored');
    expect(page.undone(undone, 1)).toBe(
      `{at}: ${undone}. 1 kept: another import has them, someone changed them, or you cannot delete them.`,
    );
  });

  it('name formats and sizes', () => {
    expect(formatLabel('testssl')).toBe('testssl.sh');
    expect(formatLabel('unknown')).toBe('unknown');
    expect([999, 1_000, 3_240_000, 5_000_000_000].map(formatSize)).toEqual([
      '999 B',
      '1 kB',
      '3.2 MB',
      '5 GB',
    ]);
  });
});

describe('Console: the outcome of an import', () => {
  const NOTHING = {
    assets_created: 0,
    assets_updated: 0,
    assets_outside_scope: 0,
    ports_opened: 0,
    ports_closed: 0,
    findings_created: 0,
    findings_seen_again: 0,
    findings_reopened: 0,
    findings_gone: 0,
  };
  const job = (members: object) =>
    ({
      state: 'succeeded',
      error: null,
      undone: null,
      result: NOTHING,
      progress: { bytes_read: 0, bytes_total: 0 },
      options: { dry_run: false },
      ...members,
    }) as unknown as Parameters<typeof outcomeText>[0];

  it.each([
    [
      { result: { ...NOTHING, findings_created: 7, findings_reopened: 2, findings_gone: 3 } },
      '+7, 2 back, 3 gone',
    ],
    [{ result: { ...NOTHING, assets_created: 4, ports_opened: 11 } }, '4 assets added, 11 ports opened'],
    [{}, 'Nothing changed'],
    [{ options: { dry_run: true } }, 'Nothing would change'],
    [
      { state: 'failed', error: { message: 'The report is truncated.', line: 1_812 } },
      'Line 1,812: The report is truncated.',
    ],
    [{ state: 'failed', error: { message: 'The report is truncated.' } }, 'The report is truncated.'],
    [{ state: 'running', progress: { bytes_read: 4, bytes_total: 10 } }, '40% processed'],
    [{ state: 'queued' }, 'Waiting'],
    [{ undone: {} }, 'Undone'],
  ])('is a short text: %j', (members, text) => {
    expect(outcomeText(job(members))).toBe(text);
  });
});

describe('Console: CSV columns', () => {
  it.each([
    ['sep=;\r\na,b;c\r\n', ['a,b', 'c']],
    ['Title,Severity\nXSS,high', ['Title', 'Severity']],
    ['Title;"Severity; CVSS"\r\nXSS;high', ['Title', 'Severity; CVSS']],
    ['Title\t"A ""quoted"" name"\t\n', ['Title', 'A "quoted" name']],
    ['"Title\nof two lines",Host', ['Title\nof two lines', 'Host']],
  ])('are read from the first row: %j', (text, columns) => {
    expect(parseFirstRow(text)).toEqual(columns);
  });
});
