import { describe, expect, it } from 'vitest';
import { parseFirstRow } from '../../console/src/pages/imports/csv-columns.ts';
import { formatLabel, formatSize } from '../../console/src/pages/imports/formats.ts';
import { importMessages } from '../../console/src/pages/imports/messages.ts';
import { queryMessages } from '../../console/src/queries/messages.ts';

const { result, file, page } = importMessages;

describe('Console messages: imports', () => {
  it.each([
    [result.processed(40), '40% processed'],
    [result.secondsLeft(12), '12 s left'],
    [result.goneFixed, 'gone, set to Fixed'],
    [result.assetsUpdated(2), 'assets updated'],
    [result.portsOpened(1), 'port opened'],
    [result.portsClosed(0), 'ports closed'],
    [result.skipped(1), 'record skipped'],
    [result.firstOf(result.previewKinds.again, 20), 'Seen again (first 20)'],
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
    expect(page.undoWarning(1, 2)).toContain(
      'up to 1 vulnerability and 2 assets that only this import created',
    );
    const undone = queryMessages.import.undoResult({ findings: 2, assets: 1, statuses: 0 });
    expect(undone).toBe('2 vulnerabilities and 1 asset deleted, 0 statuses restored');
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
