import type { ImportJob } from '../../queries/client.ts';
import { importMessages } from './messages.ts';

const messages = importMessages.outcome;

/** @returns what an import changed, or why it did not: "+7, 2 back, 3 gone" */
export function outcomeText({ state, result, error, undone, progress, options }: ImportJob): string {
  if (undone !== null) return importMessages.undone;
  if (state === 'failed')
    return error === null
      ? importMessages.states.failed
      : error.line === undefined
        ? error.message
        : messages.failedAtLine(error.line, error.message);
  if (state === 'running' && progress.bytes_total > 0)
    return importMessages.result.processed(Math.round((progress.bytes_read / progress.bytes_total) * 100));
  if (state !== 'succeeded' || result === null) return importMessages.states[state];
  const findings = [
    ...(result.findings_created > 0 ? [messages.created(result.findings_created)] : []),
    ...(result.findings_reopened > 0 ? [messages.back(result.findings_reopened)] : []),
    ...(result.findings_gone > 0 ? [messages.gone(result.findings_gone)] : []),
  ];
  const others = otherChanges(result);
  const text = (findings.length > 0 ? findings : others.slice(0, 2)).join(', ');
  if (text !== '') return text;
  return options.dry_run ? messages.noChangeAhead : messages.noChange;
}

/** @returns the counts of assets and ports that an import changes */
export function otherChanges(result: NonNullable<ImportJob['result']>): string[] {
  const counts = [
    [result.assets_created, importMessages.result.assetsCreated],
    [result.assets_updated, importMessages.result.assetsUpdated],
    [result.ports_opened, importMessages.result.portsOpened],
    [result.ports_closed, importMessages.result.portsClosed],
  ] as const;
  return counts
    .filter(([count]) => count > 0)
    .map(([count, label]) => `${count.toLocaleString()} ${label(count)}`);
}
