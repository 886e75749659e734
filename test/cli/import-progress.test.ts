import { describe, expect, it } from 'vitest';
import { showProgress } from '../../src/cli/import-progress.ts';

function stream(isTTY: boolean) {
  let written = '';
  const write = (text: string | Uint8Array) => {
    written += String(text);
    return true;
  };
  return { isTTY, write, written: () => written };
}

describe('the progress of an import', () => {
  it.each([undefined, 0])('of size %s counts what was read, and leaves nothing behind', (size) => {
    const terminal = stream(true);
    const progress = showProgress(terminal, size);
    progress.update(12_345_678, 42);
    // Too soon after the last one to be shown.
    progress.update(12_345_679, 43);
    progress.stop();
    expect(terminal.written().split('\r\u001b[K')).toEqual([
      '',
      'importing: 0.0 MB and 0 hosts read',
      'importing: 12.3 MB and 42 hosts read',
      '',
    ]);
  });

  it.each([undefined, 100])('of size %s is not written where there is no terminal', (size) => {
    const file = stream(false);
    const progress = showProgress(file, size);
    progress.update(50, 1);
    progress.stop();
    expect(file.written()).toBe('');
  });
});
