import type { WriteStream } from 'node:tty';
import { SingleBar } from 'cli-progress';
import type { RemoteImport } from './api.ts';

interface ProgressDisplay {
  update(job: RemoteImport): void;
  stop(): void;
}

/**
 * Shows the upload of a report, then the progress of its import.
 * @param terminal standard error; nothing is written unless it is a terminal
 */
export function createProgressDisplay(
  terminal: Pick<WriteStream, 'write'> & { isTTY?: boolean },
  file: string,
): ProgressDisplay {
  if (terminal.isTTY !== true) return { update: () => undefined, stop: () => undefined };
  const clearLine = '\r\u001b[K';
  const name = file.replace(/\p{Cc}/gu, '');
  let bar: SingleBar | undefined;
  terminal.write(`${clearLine}Uploading ${name}`);
  return {
    update(job) {
      const { bytes_read: read, bytes_total: total } = job.progress;
      const payload = { name, status: formatProgress(job) };
      if (bar === undefined) {
        terminal.write(clearLine);
        bar = new SingleBar({
          stream: terminal as WriteStream,
          format: '{name} [{bar}] {percentage} % | {status}',
          hideCursor: true,
          clearOnComplete: true,
        });
        bar.start(Math.max(total, 1), read, payload);
      }
      bar.setTotal(Math.max(total, 1));
      bar.update(read, payload);
    },
    stop() {
      if (bar === undefined) terminal.write(clearLine);
      else bar.stop();
    },
  };
}

function formatProgress({ state, progress }: RemoteImport): string {
  if (state === 'queued') return 'queued';
  const { hosts, findings, seconds_left: secondsLeft } = progress;
  return [
    ...(hosts > 0 ? [`${hosts} hosts`] : []),
    ...(findings > 0 ? [`${findings} findings`] : []),
    ...(secondsLeft === null ? [] : [`${secondsLeft} s left`]),
  ].join(' | ');
}
