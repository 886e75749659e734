import { Alert, Anchor, Button, Collapse, Group, Loader, Progress, Select, Stack, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
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
import { ImportSummary, ImportPreview, ImportProgress, ImportErrors } from './import-result.tsx';
import { ImportStateBadge } from './import-state-badge.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { type ImportRun, useDryRun, useStartImport } from './use-import-run.ts';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

interface ImportFileCardProps {
  file: File;
  settings: ImportSettings;
  /** Whether the options suffice for a dry run. */
  isReady: boolean;
  /** Incremented to start all imports. */
  startAll: number;
  onRemove: () => void;
  onState: (state: { canStart: boolean; started: boolean }) => void;
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
  const canStart = run === undefined && job !== undefined && isFinished(job);
  const begin = () => {
    setPreviewed(dryRun);
    start({ file, settings, fileSettings });
  };
  useEffect(() => {
    onState({ canStart, started: run !== undefined });
    // onState is a new function on every render.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [canStart, run !== undefined]);
  useEffect(() => {
    if (startAll > 0 && canStart) begin();
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [startAll]);
  const format = job?.format;
  const isCsv = (format ?? fileSettings.format) === 'csv';
  return (
    <article className={classes.sheet} aria-label={file.name}>
      <Stack gap="sm">
        <Group gap="sm">
          <span className={classes.name}>{file.name}</span>
          <DimmedText>{formatSize(file.size)}</DimmedText>
          {run === undefined && (
            <Select
              size="xs"
              w={190}
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
          )}
          {run !== undefined && format !== undefined && <Text size="sm">{formatLabel(format)}</Text>}
          {run?.job !== undefined && <ImportStateBadge state={run.job.state} />}
          {(run === undefined ||
            run.error !== undefined ||
            (run.job !== undefined && isFinished(run.job))) && (
            <IconAction label={messages.remove(file.name)} icon={IconX} onClick={onRemove} />
          )}
        </Group>
        {isCsv && run === undefined && (
          <CsvMapping
            file={file}
            mapping={fileSettings.mapping}
            onChange={(mapping) => setFileSettings({ format: 'csv', mapping })}
          />
        )}
        <div aria-live="polite">
          {run === undefined ? (
            <DryRunResult
              file={file}
              hasAssessment={settings.assessmentUid !== null}
              run={dryRun}
              isReady={isReady}
            />
          ) : (
            <ImportedResult file={file} hasAssessment={settings.assessmentUid !== null} run={run} />
          )}
        </div>
        {canStart && (
          <Group>
            <Button size="xs" onClick={begin}>
              Import
            </Button>
          </Group>
        )}
      </Stack>
    </article>
  );
}

/** The progress of an upload; then `next` while the server responds. */
function UploadProgress({ file, progress, next }: { file: File; progress: UploadState; next: string }) {
  if (progress === 'waiting' || progress >= 1)
    return (
      <Group gap="xs">
        <Loader size={14} aria-hidden />
        <Text size="sm">{progress === 'waiting' ? commonMessages.uploadWaiting : next}</Text>
      </Group>
    );
  const percent = Math.round(progress * 100);
  return (
    <div>
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
    return <DimmedText>{importMessages.options.chooseAssessment}</DimmedText>;
  const fieldErrors = error instanceof AssayError ? error.fieldErrors : [];
  const fileError = fieldErrors.find(({ property }) => property === 'file')?.message;
  return (
    <Alert color="red" title={messages.rejected}>
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
  const [isOpen, setOpen] = useState(false);
  if (!isReady) return <DimmedText>{messages.assessmentFirst}</DimmedText>;
  if (run?.error !== undefined) return <ImportErrorAlert error={run.error} hasAssessment={hasAssessment} />;
  if (run?.job === undefined)
    return <UploadProgress file={file} progress={run?.progress ?? 1} next={messages.previewing} />;
  const { job } = run;
  if (!isFinished(job)) return <ImportProgress job={job} />;
  const hasMore = job.preview !== null && Object.values(job.preview).some((findings) => findings.length > 0);
  return (
    <Stack gap="xs">
      <DimmedText>{messages.preview}</DimmedText>
      <ImportSummary job={job} isDryRun />
      {job.result?.findings_gone === 0 &&
        job.result.findings_seen_again > 0 &&
        job.options.targets.length === 0 && <DimmedText size="xs">{messages.noCoverage}</DimmedText>}
      {(hasMore || job.skips.length > 0) && (
        <div>
          <Button
            size="compact-xs"
            variant="subtle"
            aria-expanded={isOpen}
            onClick={() => setOpen((open) => !open)}
          >
            {isOpen ? messages.hideDetails : messages.showDetails}
          </Button>
        </div>
      )}
      <Collapse expanded={isOpen} transitionDuration={0}>
        <ImportPreview job={job} />
        {job.error === null && <ImportErrors job={job} />}
      </Collapse>
      {job.error !== null && <ImportErrors job={job} />}
    </Stack>
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
      <Stack gap="xs">
        <ImportProgress job={job} />
        <Group>
          <Button size="compact-sm" variant="default" onClick={() => cancel.mutate(job.id)}>
            Cancel
          </Button>
        </Group>
      </Stack>
    );
  return (
    <Stack gap="xs">
      <ImportSummary job={job} isDryRun={false} />
      <ImportErrors job={job} />
      <Anchor component={Link} to={`/imports/${job.id}`} size="sm">
        {importMessages.importName(job.id)}
      </Anchor>
    </Stack>
  );
}
