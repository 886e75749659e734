import { Alert, Anchor, Progress, Stack, Text } from '@mantine/core';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ImportJob } from '../../queries/client.ts';
import { isFinished } from '../../queries/imports.ts';
import { listAddress, type VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import { fillSentence } from '../../components/fill-sentence.ts';
import { pluralize } from '../../components/pluralize.ts';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

const messages = importMessages.result;

/** Id of the status of a fixed finding that is seen again. */
const REOPENED = 2;

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

interface SummaryProps {
  job: ImportJob;
  isDryRun: boolean;
}

/** The counts of an import or a dry run, linked to the affected vulnerabilities. */
export function ImportSummary({ job, isDryRun }: SummaryProps) {
  const { result, assessment_id, started_at } = job;
  if (result === null) return null;
  const reopened =
    assessment_id === null || started_at === null
      ? undefined
      : { assessment_id: [assessment_id], status_id: [REOPENED], updated_since: started_at };
  const findings: { label: string; number: number; search: VulnerabilitySearch | undefined }[] = [
    { label: messages.created, number: result.findings_created, search: { import_id: [job.id] } },
    { label: messages.seenAgain, number: result.findings_seen_again, search: undefined },
    { label: messages.reopened, number: result.findings_reopened, search: reopened },
    {
      label: job.options.when_gone === 'fix' ? messages.goneFixed : messages.gone,
      number: result.findings_gone,
      search: { gone_import_id: [job.id] },
    },
  ];
  const otherCounts = [
    { label: messages.assetsCreated(result.assets_created), number: result.assets_created },
    { label: messages.assetsUpdated(result.assets_updated), number: result.assets_updated },
    { label: messages.assetsOutside(result.assets_outside_scope), number: result.assets_outside_scope },
    { label: messages.portsOpened(result.ports_opened), number: result.ports_opened },
    { label: messages.portsClosed(result.ports_closed), number: result.ports_closed },
    { label: messages.skipped(job.progress.skipped), number: job.progress.skipped },
  ].filter(({ number }) => number > 0);
  return (
    <dl className={classes.counts} aria-label={isDryRun ? messages.dryRunSummary : messages.summary}>
      {findings.map(({ label, number, search }) => (
        <Count key={label} label={label}>
          {isDryRun || number === 0 || search === undefined || job.undone !== null ? (
            number.toLocaleString()
          ) : (
            <Anchor
              renderRoot={(props) => <Link to="/vulnerabilities" search={listAddress(search)} {...props} />}
              size="sm"
              fw={600}
              aria-label={`${number.toLocaleString()} ${label}`}
            >
              {number.toLocaleString()}
            </Anchor>
          )}
        </Count>
      ))}
      {otherCounts.map(({ label, number }) => (
        <Count key={label} label={label}>
          {number.toLocaleString()}
        </Count>
      ))}
    </dl>
  );
}

function Count({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Findings of each kind in the preview of a dry run. */
const PREVIEW_LIMIT = 20;

/** The first findings of each kind in a dry run. */
export function ImportPreview({ job }: { job: ImportJob }) {
  const { preview } = job;
  if (preview === null) return null;
  return (
    <Stack gap="sm">
      {Object.entries(messages.previewKinds).map(([kind, label]) => {
        const findings = preview[kind as keyof typeof messages.previewKinds];
        if (findings.length === 0) return null;
        return (
          <section key={kind} aria-label={label}>
            <Text size="sm" fw={600}>
              {findings.length >= PREVIEW_LIMIT ? messages.firstOf(label, PREVIEW_LIMIT) : label}
            </Text>
            <ul className={classes.findings}>
              {findings.map(({ title, asset }, index) => (
                <li key={`${index} ${title}`}>
                  {asset === undefined ? (
                    <bdi>{title}</bdi>
                  ) : (
                    fillSentence(messages.findingAt, { title: <bdi>{title}</bdi>, asset: <bdi>{asset}</bdi> })
                  )}
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </Stack>
  );
}

/** The error that ended an import, and the records that were skipped, cut or have an unclear time. */
export function ImportErrors({ job }: { job: ImportJob }) {
  const { error, skips } = job;
  return (
    <>
      {error !== null && (
        <Alert color="red" title={formatLocation(messages.invalidReport, error.line, error.offset)}>
          {error.message}
        </Alert>
      )}
      {skips.length > 0 && (
        <section aria-label={messages.incomplete}>
          <Text size="sm" fw={600}>
            {messages.incomplete}
          </Text>
          <ul className={classes.findings}>
            {skips.map(({ reason, count, line, offset }) => (
              <li key={reason}>
                {count.toLocaleString()} {formatLocation(`(${reason})`, line, offset)}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function formatLocation(reason: string, line?: number, offset?: number): string {
  if (line !== undefined) return messages.atLine(reason, line);
  return offset === undefined ? reason : messages.atByte(reason, offset);
}
