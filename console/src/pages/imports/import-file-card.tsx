import { Alert, Anchor, Button, Group, Loader, Progress, Select, Stack, Text } from '@mantine/core';
import { IconFileDescription, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { AssayError } from '../../queries/client.ts';
import type { FileSettings, ImportSettings } from '../../queries/upload-import.ts';
import type { UploadState } from '../../queries/upload.ts';
import { isFinished, useCancelImport } from '../../queries/imports.ts';
import { IconAction } from '../../components/page-actions.tsx';
import { toOptions } from '../../components/filter-definition.ts';
import { commonMessages } from '../../components/messages.ts';
import { errorText } from '../../components/notifications.ts';
import { CsvMapping } from './csv-mapping.tsx';
import { IMPORT_FORMAT_LABELS, formatLabel, formatSize } from './formats.ts';
import { ImportChanges, ImportError, PreviewedFindings } from './import-changes.tsx';
import { ImportProgress } from './import-progress.tsx';
import { PreviewSentence, ResultSentence } from './import-sentence.tsx';
import { ImportStateBadge } from './import-state-badge.tsx';
import { Warning } from '../../components/section.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { outcomeText } from './outcome.ts';
import { type ImportRun, useDryRun, useStartImport } from './use-import-run.ts';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

/** What the bar of the page needs to know of a file. */
export interface CardState {
  canStart: boolean;
  started: boolean;
  /** Whether it is a report of findings and no assessment is chosen. */
  lacksAssessment: boolean;
  /** How many findings the import would change. */
  changes: number;
  /** The changes of the preview or of the import, or its progress. */
  summary: string;
  /** The id of the import, once it has been uploaded. */
  importId: number | undefined;
}

interface ImportFileCardProps {
  file: File;
  settings: ImportSettings;
  /** Whether the options suffice for a dry run. */
  isReady: boolean;
  /** Incremented to start all imports. */
  startAll: number;
  onRemove: () => void;
  onState: (state: CardState) => void;
}

const messages = importMessages.file;

/** A dropped report: its format, the preview, and then the import. */
export function ImportFileCard({
  file,
  settings,
  isReady,
  startAll,
  onRemove,
  onState,
}: ImportFileCardProps) {
  const [fileSettings, setFileSettings] = useState<FileSettings>({ format: 'auto', mapping: undefined });
  const { run, start } = useStartImport();
  const dryRun = useDryRun({ file, settings, fileSettings }, isReady && run === undefined);
  const [previewed, setPreviewed] = useState<ImportRun>();
  // The preview stays visible during the import.
  const job = (run === undefined ? dryRun : previewed)?.job;
  const hasAssessment = settings.assessmentUid !== null;
  const result = job !== undefined && isFinished(job) ? job.result : null;
  const state: CardState = {
    canStart: run === undefined && job !== undefined && isFinished(job),
    started: run !== undefined,
    lacksAssessment: !hasAssessment && (!isReady || isAssessmentError(dryRun?.error)),
    changes: result === null ? 0 : result.findings_created + result.findings_reopened + result.findings_gone,
    summary: summaryOf(run ?? dryRun, run !== undefined),
    importId: run?.job?.id,
  };
  useEffect(() => {
    onState(state);
    // onState is a new function on every render.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, Object.values(state));
  useEffect(() => {
    if (startAll === 0 || !state.canStart) return;
    setPreviewed(dryRun);
    start({ file, settings, fileSettings });
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [startAll]);
  const format = job?.format;
  const isCsv = (format ?? fileSettings.format) === 'csv';
  const isRemovable =
    run === undefined || run.error !== undefined || (run.job !== undefined && isFinished(run.job));
  return (
    <article aria-label={file.name}>
      <div className={classes.file}>
        <IconFileDescription size={20} stroke={1.75} aria-hidden />
        <span className={classes.name}>
          <b dir="auto">{file.name}</b>
          <small>
            {formatSize(file.size)}
            {run !== undefined && format !== undefined && `, ${formatLabel(format)}`}
          </small>
        </span>
        {run === undefined ? (
          <Select
            size="xs"
            w={180}
            aria-label={messages.format(file.name)}
            data={[
              {
                value: 'auto',
                label:
                  format === undefined || fileSettings.format !== 'auto'
                    ? messages.detectFormat
                    : messages.detected(formatLabel(format)),
              },
              ...toOptions(IMPORT_FORMAT_LABELS),
            ]}
            allowDeselect={false}
            searchable={false}
            value={fileSettings.format}
            onChange={(value) => setFileSettings({ format: value ?? 'auto', mapping: undefined })}
          />
        ) : (
          run.job !== undefined && <ImportStateBadge state={run.job.state} />
        )}
        {isRemovable && <IconAction label={messages.remove(file.name)} icon={IconX} onClick={onRemove} />}
      </div>
      {isCsv && run === undefined && (
        <div className={classes.line}>
          <CsvMapping
            file={file}
            mapping={fileSettings.mapping}
            onChange={(mapping) => setFileSettings({ format: 'csv', mapping })}
          />
        </div>
      )}
      <div aria-live="polite">
        {run === undefined ? (
          <DryRunResult file={file} hasAssessment={hasAssessment} run={dryRun} isReady={isReady} />
        ) : (
          <ImportedResult file={file} hasAssessment={hasAssessment} run={run} />
        )}
      </div>
    </article>
  );
}

function summaryOf(run: ImportRun | undefined, isImport: boolean): string {
  if (run === undefined) return '';
  if (run.error !== undefined) return messages.rejected;
  if (run.progress === 'waiting') return commonMessages.uploadWaiting;
  if (run.job === undefined) return isImport ? messages.starting : messages.previewing;
  return outcomeText(run.job);
}

/** The progress of an upload; then `next` while the server responds. */
function UploadProgress({ file, progress, next }: { file: File; progress: UploadState; next: string }) {
  if (progress === 'waiting' || progress >= 1)
    return (
      <Group gap="xs" className={classes.line}>
        <Loader size={14} aria-hidden />
        <Text size="sm">{progress === 'waiting' ? commonMessages.uploadWaiting : next}</Text>
      </Group>
    );
  const percent = Math.round(progress * 100);
  return (
    <div className={classes.line}>
      <Progress.Root size="sm">
        <Progress.Section value={percent} aria-label={messages.uploadOf(file.name)} />
      </Progress.Root>
      <DimmedText size="xs" mt={4}>
        {messages.uploaded(percent)}
      </DimmedText>
    </div>
  );
}

const isAssessmentError = (error: Error | undefined) =>
  error instanceof AssayError && error.fieldErrors.some(({ property }) => property === 'assessment_id');

function ImportErrorAlert({ error, hasAssessment }: { error: Error; hasAssessment: boolean }) {
  if (!hasAssessment && isAssessmentError(error))
    return <DimmedText className={classes.line}>{importMessages.options.chooseAssessment}</DimmedText>;
  const fieldErrors = error instanceof AssayError ? error.fieldErrors : [];
  const fileError = fieldErrors.find(({ property }) => property === 'file')?.message;
  return (
    <Alert color="red" title={messages.rejected} className={classes.alert}>
      {fileError === undefined ? errorText(error) : messages.invalidFile(fileError)}
    </Alert>
  );
}

interface RunProps {
  file: File;
  hasAssessment: boolean;
}

function DryRunResult({
  file,
  run,
  isReady,
  hasAssessment,
}: RunProps & { run: ImportRun | undefined; isReady: boolean }) {
  if (!isReady) return <DimmedText className={classes.line}>{messages.assessmentFirst}</DimmedText>;
  if (run?.error !== undefined) return <ImportErrorAlert error={run.error} hasAssessment={hasAssessment} />;
  if (run?.job === undefined)
    return <UploadProgress file={file} progress={run?.progress ?? 1} next={messages.previewing} />;
  const { job } = run;
  if (!isFinished(job))
    return (
      <div className={classes.line}>
        <ImportProgress job={job} />
      </div>
    );
  const { result } = job;
  return (
    <>
      {job.error !== null && (
        <div className={classes.alert}>
          <ImportError job={job} />
        </div>
      )}
      <PreviewSentence job={job} />
      {result !== null &&
        result.findings_gone === 0 &&
        result.findings_seen_again > 0 &&
        job.options.targets.length === 0 && (
          <DimmedText size="xs" className={classes.line}>
            {messages.noCoverage}
          </DimmedText>
        )}
      {(result?.assets_outside_scope ?? 0) > 0 && (
        <div className={classes.alert}>
          <Warning>{messages.outsideScope(result?.assets_outside_scope ?? 0)}</Warning>
        </div>
      )}
      <ImportChanges
        job={job}
        findings={(kind, count) => <PreviewedFindings job={job} kind={kind} count={count} />}
      />
    </>
  );
}

function ImportedResult({ file, run, hasAssessment }: RunProps & { run: ImportRun }) {
  const cancel = useCancelImport();
  const { job } = run;
  if (run.error !== undefined) return <ImportErrorAlert error={run.error} hasAssessment={hasAssessment} />;
  if (job === undefined)
    return <UploadProgress file={file} progress={run.progress} next={messages.starting} />;
  if (!isFinished(job))
    return (
      <Stack gap="xs" className={classes.line}>
        <ImportProgress job={job} />
        <Group>
          <Button size="xs" variant="default" onClick={() => cancel.mutate(job.id)}>
            Cancel
          </Button>
        </Group>
      </Stack>
    );
  return (
    <>
      <ResultSentence job={job} />
      {job.error !== null && (
        <div className={classes.alert}>
          <ImportError job={job} />
        </div>
      )}
      <p className={classes.line}>
        <Anchor component={Link} to={`/imports/${job.id}`} size="sm">
          {importMessages.importName(job.id)}
        </Anchor>
      </p>
    </>
  );
}
