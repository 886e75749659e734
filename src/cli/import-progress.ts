import type { WriteStream } from 'node:tty';
import { SingleBar } from 'cli-progress';

/** How often the line is written anew, in milliseconds. */
const REFRESH = 100;

interface ImportProgress {
  /** @param hosts how many were read so far */
  update(bytes: number, hosts: number): void;
  /** Leaves nothing of it on the terminal. */
  stop(): void;
}

/**
 * Shows on a terminal how far an import is: a bar where the size is known, and otherwise what was read so far.
 * @param terminal standard error; whatever is no terminal is left alone
 * @param size in bytes
 */
export function showProgress(
  terminal: Pick<WriteStream, 'write'> & { isTTY?: boolean },
  size: number | undefined,
): ImportProgress {
  if (terminal.isTTY !== true) return { update: () => undefined, stop: () => undefined };
  return size === undefined || size === 0 ? counter(terminal) : bar(terminal as WriteStream, size);
}

function bar(stream: WriteStream, size: number): ImportProgress {
  const shown = new SingleBar({
    stream,
    format: 'importing [{bar}] {percentage} % | {value} of {total} MB | {eta_formatted} left',
    formatValue: (value, _options, type) =>
      type === 'value' || type === 'total' ? megabytes(value) : String(value),
    hideCursor: true,
    clearOnComplete: true,
  });
  shown.start(size, 0);
  return { update: (bytes) => shown.update(bytes), stop: () => shown.stop() };
}

function counter(stream: Pick<WriteStream, 'write'>): ImportProgress {
  const clearLine = '\r\u001b[K';
  let shownAt = -Infinity;
  const show = (bytes: number, hosts: number): void => {
    stream.write(`${clearLine}importing: ${megabytes(bytes)} MB and ${hosts} hosts read`);
  };
  show(0, 0);
  return {
    update(bytes, hosts) {
      const now = performance.now();
      if (now - shownAt < REFRESH) return;
      shownAt = now;
      show(bytes, hosts);
    },
    stop: () => void stream.write(clearLine),
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
