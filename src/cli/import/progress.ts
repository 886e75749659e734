import type { WriteStream } from 'node:tty';
import { SingleBar } from 'cli-progress';
import type { ImportJob } from './api.ts';

/** Shows on a terminal how far an import is that runs here or on a server. */
interface ProgressDisplay {
  update(job: ImportJob): void;
  /** Leaves nothing of it on the terminal. */
  stop(): void;
}

/**
 * Shows that a report is sent, and from the first answer on how far it is.
 * @param terminal standard error; whatever is no terminal is left alone
 * @param file as people know it
 */
export function createProgressDisplay(
  terminal: Pick<WriteStream, 'write'> & { isTTY?: boolean },
  file: string,
): ProgressDisplay {
  if (terminal.isTTY !== true) return { update: () => undefined, stop: () => undefined };
  const clearLine = '\r\u001b[K';
  const name = file.replace(/\p{Cc}/gu, '');
  let shown: SingleBar | undefined;
  terminal.write(`${clearLine}sending ${name}`);
  return {
    update(job) {
      const { bytes_read: read, bytes_total: total } = job.progress;
      const payload = { name, told: formatProgress(job) };
      if (shown === undefined) {
        terminal.write(clearLine);
        shown = new SingleBar({
          stream: terminal as WriteStream,
          format: '{name} [{bar}] {percentage} % | {told}',
          hideCursor: true,
          clearOnComplete: true,
        });
        shown.start(Math.max(total, 1), read, payload);
      }
      shown.setTotal(Math.max(total, 1));
      shown.update(read, payload);
    },
    stop() {
      if (shown === undefined) terminal.write(clearLine);
      else shown.stop();
    },
  };
}

/** @returns what of an import a line has room for */
function formatProgress({ state, progress }: ImportJob): string {
  if (state === 'queued') return 'waits for its turn';
  const { hosts, findings, seconds_left: left } = progress;
  return [
    ...(hosts > 0 ? [`${hosts} hosts`] : []),
    ...(findings > 0 ? [`${findings} findings`] : []),
    ...(left === null ? [] : [`${left} s left`]),
  ].join(' | ');
}
