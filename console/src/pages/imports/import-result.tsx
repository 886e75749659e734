import { Alert, Anchor, Progress, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ImportJob } from '../../queries/client.ts';
import { isFinished } from '../../queries/imports.ts';
import type { VulnerabilitySearch } from '../../queries/vulnerabilities.ts';
import { pluralize, pluralNoun } from '../../components/pluralize.ts';
import classes from './imports.module.css';

/** Status 2 is what a finding gets that was fixed and is there again. */
const REOPENED = 2;

/** How far an import is, while it runs. */
export function ImportProgress({ job }: { job: ImportJob }) {
  const { bytes_read, bytes_total, findings, hosts, ports, seconds_left } = job.progress;
  const part = bytes_total === 0 ? 0 : Math.round((bytes_read / bytes_total) * 100);
  const read = [
    ...(hosts > 0 ? [pluralize(hosts, 'host')] : []),
    ...(ports > 0 ? [pluralize(ports, 'port')] : []),
    ...(findings > 0 ? [pluralize(findings, 'finding')] : []),
  ];
  return (
    <div>
      <Progress.Root size="sm">
        <Progress.Section value={part} aria-label={`${job.file.filename}, read`} />
      </Progress.Root>
      <Text size="xs" c="dimmed" mt={4}>
        {job.state === 'queued' ? 'It waits for its turn.' : `${part} % read`}
        {read.length > 0 && `, ${read.join(', ')}`}
        {seconds_left !== null && !isFinished(job) && `, ${seconds_left} s left`}
      </Text>
    </div>
  );
}

interface SummaryProps {
  job: ImportJob;
  /** Whether nothing was written: what it would do. */
  isDryRun: boolean;
}

/** What an import did or would do, in numbers, with the ways to what it made. */
export function ImportSummary({ job, isDryRun }: SummaryProps) {
  const { result, assessment_id, started_at } = job;
  if (result === null) return null;
  const reopened =
    assessment_id === null || started_at === null
      ? undefined
      : { assessment_id: [assessment_id], status_id: [REOPENED], updated_since: started_at };
  const findings: { label: string; number: number; search: VulnerabilitySearch | undefined }[] = [
    { label: 'new', number: result.findings_created, search: { import_id: [job.id] } },
    { label: 'seen again', number: result.findings_seen_again, search: undefined },
    { label: 'reopened', number: result.findings_reopened, search: reopened },
    {
      label: job.options.when_gone === 'fix' ? 'gone, set to Fixed' : 'gone',
      number: result.findings_gone,
      search: { gone_import_id: [job.id] },
    },
  ];
  const others = [
    { label: `${pluralNoun(result.assets_created, 'asset')} added`, number: result.assets_created },
    { label: `${pluralNoun(result.assets_updated, 'asset')} seen`, number: result.assets_updated },
    { label: `${pluralNoun(result.ports_opened, 'port')} opened`, number: result.ports_opened },
    { label: `${pluralNoun(result.ports_closed, 'port')} closed`, number: result.ports_closed },
    { label: `${pluralNoun(job.progress.skipped, 'record')} skipped`, number: job.progress.skipped },
  ].filter(({ number }) => number > 0);
  return (
    <dl className={classes.counts} aria-label={isDryRun ? 'What it would do' : 'What it did'}>
      {findings.map(({ label, number, search }) => (
        <Count key={label} label={label}>
          {isDryRun || number === 0 || search === undefined || job.undone !== null ? (
            number.toLocaleString()
          ) : (
            <Anchor
              component={Link}
              to="/vulnerabilities"
              search={search as never}
              size="sm"
              fw={600}
              aria-label={`${number.toLocaleString()} ${label}`}
            >
              {number.toLocaleString()}
            </Anchor>
          )}
        </Count>
      ))}
      {others.map(({ label, number }) => (
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

const PREVIEW_LIMIT = {
  new: 'New',
  reopened: 'Reopened',
  gone: 'Gone',
  again: 'Seen again',
} as const;

/** The first findings of each kind that a dry run tells. */
export function ImportPreview({ job }: { job: ImportJob }) {
  const { preview } = job;
  if (preview === null) return null;
  return (
    <Stack gap="sm">
      {Object.entries(PREVIEW_LIMIT).map(([kind, label]) => {
        const findings = preview[kind as keyof typeof PREVIEW_LIMIT];
        if (findings.length === 0) return null;
        return (
          <section key={kind} aria-label={label}>
            <Text size="sm" fw={600}>
              {label}
              {findings.length >= 20 && ', the first 20'}
            </Text>
            <ul className={classes.findings}>
              {findings.map(({ title, asset }, index) => (
                <li key={`${index} ${title}`}>
                  <bdi>{title}</bdi>
                  {asset !== undefined && (
                    <span>
                      {' '}
                      at <bdi>{asset}</bdi>
                    </span>
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

/** Where a report went wrong, and what of it was not taken. */
export function ImportErrors({ job }: { job: ImportJob }) {
  const { error, skips } = job;
  return (
    <>
      {error !== null && (
        <Alert color="red" title={formatLocation('The report is wrong', error.line, error.offset)}>
          {error.message}
        </Alert>
      )}
      {skips.length > 0 && (
        <section aria-label="Skipped">
          <Text size="sm" fw={600}>
            Skipped
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

function formatLocation(what: string, line?: number, offset?: number): string {
  if (line !== undefined) return `${what}, first at line ${line.toLocaleString()}`;
  return offset === undefined ? what : `${what}, first at byte ${offset.toLocaleString()}`;
}
