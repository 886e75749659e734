import { Alert, Tabs } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { DimmedText } from '../../components/dimmed-text.tsx';
import type { ImportJob } from '../../queries/client.ts';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

const messages = importMessages.result;

/** What an import does with the findings of the report, and those that the report no longer has. */
export type ChangeKind = 'new' | 'reopened' | 'gone' | 'again';
type Tab = ChangeKind | 'skipped';

interface ImportChangesProps {
  job: ImportJob;
  /** @returns the findings of a kind, of which there are some */
  findings: (kind: ChangeKind, count: number) => ReactNode;
}

/** The changes of an import by kind, and what of the report it skips. */
export function ImportChanges({ job: { result, progress, skips }, findings }: ImportChangesProps) {
  const [selected, setSelected] = useState<Tab>();
  if (result === null) return null;
  const kinds: readonly [ChangeKind, number][] = [
    ['new', result.findings_created],
    ['reopened', result.findings_reopened],
    ['gone', result.findings_gone],
    ['again', result.findings_seen_again],
  ];
  const first = kinds.find(([, count]) => count > 0)?.[0] ?? (skips.length > 0 ? 'skipped' : 'new');
  return (
    <Tabs
      value={selected ?? first}
      onChange={(tab) => setSelected((tab ?? undefined) as Tab | undefined)}
      keepMounted={false}
    >
      <Tabs.List className={classes.changes} aria-label={messages.changes}>
        {[...kinds, ['skipped', progress.skipped] as const].map(([tab, count]) => (
          <Tabs.Tab key={tab} value={tab}>
            <b>{count.toLocaleString()}</b> {messages.kinds[tab]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {kinds.map(([kind, count]) => (
        <Tabs.Panel key={kind} value={kind}>
          {count > 0 ? findings(kind, count) : <Nothing />}
        </Tabs.Panel>
      ))}
      <Tabs.Panel value="skipped">{skips.length > 0 ? <Skips skips={skips} /> : <Nothing />}</Tabs.Panel>
    </Tabs>
  );
}

const Nothing = () => <DimmedText className={classes.line}>{messages.nothing}</DimmedText>;

/** The records that were skipped or cut, or whose time is unclear. */
const Skips = ({ skips }: Pick<ImportJob, 'skips'>) => (
  <ul className={classes.findings} aria-label={messages.incomplete}>
    {skips.map(({ reason, count, line, offset }) => (
      <li key={reason}>
        {count.toLocaleString()} {formatLocation(`(${reason})`, line, offset)}
      </li>
    ))}
  </ul>
);

/** The first findings of a kind in a dry run, without those of which the API gives no names. */
export function PreviewedFindings({ job, kind, count }: { job: ImportJob; kind: ChangeKind; count: number }) {
  const findings = job.preview?.[kind] ?? [];
  return (
    <>
      <ul className={classes.findings} aria-label={messages.kinds[kind]}>
        {findings.map(({ title, asset }, index) => (
          <li key={`${index} ${title}`}>
            <b dir="auto">{title}</b>
            {asset !== undefined && <small dir="auto">{asset}</small>}
          </li>
        ))}
      </ul>
      {count > findings.length && (
        <DimmedText className={classes.line}>{messages.firstOf(findings.length, count)}</DimmedText>
      )}
    </>
  );
}

/** The error that ended an import. */
export function ImportError({ job: { error } }: { job: ImportJob }) {
  if (error === null) return null;
  return (
    <Alert color="red" title={formatLocation(messages.invalidReport, error.line, error.offset)}>
      {error.message}
    </Alert>
  );
}

function formatLocation(reason: string, line?: number, offset?: number): string {
  if (line !== undefined) return messages.atLine(reason, line);
  return offset === undefined ? reason : messages.atByte(reason, offset);
}
