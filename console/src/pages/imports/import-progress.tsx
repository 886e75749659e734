import { Progress } from '@mantine/core';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { pluralize } from '../../components/pluralize.ts';
import type { ImportJob } from '../../queries/client.ts';
import { isFinished } from '../../queries/imports.ts';
import { importMessages } from './messages.ts';

const messages = importMessages.result;

/** The progress of a running import. */
export function ImportProgress({ job }: { job: ImportJob }) {
  const { bytes_read, bytes_total, findings, hosts, ports, seconds_left } = job.progress;
  const percent = bytes_total === 0 ? 0 : Math.round((bytes_read / bytes_total) * 100);
  const parts = [
    job.state === 'queued' ? messages.waiting : messages.processed(percent),
    ...(hosts > 0 ? [pluralize(hosts, 'host')] : []),
    ...(ports > 0 ? [pluralize(ports, 'port')] : []),
    ...(findings > 0 ? [pluralize(findings, 'finding')] : []),
    ...(seconds_left !== null && !isFinished(job) ? [messages.secondsLeft(seconds_left)] : []),
  ];
  return (
    <div>
      <Progress.Root size="sm">
        <Progress.Section value={percent} aria-label={messages.progressOf(job.file.filename)} />
      </Progress.Root>
      <DimmedText size="xs" mt={4}>
        {parts.join(', ')}
      </DimmedText>
    </div>
  );
}
