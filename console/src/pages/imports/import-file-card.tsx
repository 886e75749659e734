import {
  ActionIcon,
  Alert,
  Anchor,
  Button,
  Collapse,
  Group,
  Loader,
  Progress,
  Select,
  Stack,
  Text,
} from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { AssayError } from '../../queries/client.ts';
import type { FileSettings, ImportSettings } from '../../queries/upload-import.ts';
import { isFinished, useCancelImport } from '../../queries/imports.ts';
import { errorText } from '../../components/notifications.tsx';
import { CsvMapping } from './csv-mapping.tsx';
import { IMPORT_FORMATS, formatLabel, formatSize } from './formats.ts';
import { ImportSummary, ImportPreview, ImportProgress, ImportErrors } from './import-result.tsx';
import { ImportStateBadge } from './import-state-badge.tsx';
import { type ImportRun, useDryRun, useStartImport } from './use-import-run.ts';
import classes from './imports.module.css';

interface ImportFileCardProps {
  file: File;
  settings: ImportSettings;
  /** Whether enough is chosen for a dry run. */
  isReady: boolean;
  /** Raised by the button that imports all. */
  startAll: number;
  onRemove: () => void;
  /** Told whether it may be started, and what the server has against the assessment. */
  onState: (state: { canStart: boolean; started: boolean; assessmentError: string | undefined }) => void;
}

/** One report: its format, what its import would do, and then what it did. */
export function ImportFileCard({
  file,
  settings,
  isReady,
  startAll,
  onRemove,
  onState,
}: ImportFileCardProps) {
  const [fileSettings, setOwn] = useState<FileSettings>({ format: 'auto', mapping: undefined });
  const { run, start } = useStartImport();
  const dry = useDryRun({ file, settings, fileSettings }, isReady && run === undefined);
  const [looked, setLooked] = useState<ImportRun>();
  // What it would do stands while it is done.
  const shown = run === undefined ? dry : looked;
  const job = shown?.job;
  const canStart = run === undefined && job !== undefined && isFinished(job);
  const refusal = (run ?? dry)?.error;
  const ofAssessment =
    refusal instanceof AssayError
      ? refusal.fieldErrors.find(({ property }) => property === 'assessment_id')?.message
      : undefined;
  const begin = () => {
    setLooked(dry);
    start({ file, settings, fileSettings });
  };
  useEffect(() => {
    onState({ canStart, started: run !== undefined, assessmentError: ofAssessment });
    // Told when it changes, whoever hears it.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [canStart, run !== undefined, ofAssessment]);
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
          <Text size="sm" c="dimmed">
            {formatSize(file.size)}
          </Text>
          {run === undefined && (
            <Select
              size="xs"
              w={190}
              aria-label={`Format of ${file.name}`}
              data={[
                {
                  value: 'auto',
                  label:
                    format === undefined || fileSettings.format !== 'auto'
                      ? 'Recognise the format'
                      : `${formatLabel(format)}, recognised`,
                },
                ...Object.entries(IMPORT_FORMATS).map(([value, label]) => ({ value, label })),
              ]}
              allowDeselect={false}
              searchable={false}
              value={fileSettings.format}
              onChange={(value) => setOwn({ format: value ?? 'auto', mapping: undefined })}
            />
          )}
          {run !== undefined && format !== undefined && <Text size="sm">{formatLabel(format)}</Text>}
          {run?.job !== undefined && <ImportStateBadge state={run.job.state} />}
          {(run === undefined ||
            run.error !== undefined ||
            (run.job !== undefined && isFinished(run.job))) && (
            <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${file.name}`} onClick={onRemove}>
              <IconX size={16} aria-hidden />
            </ActionIcon>
          )}
        </Group>
        {isCsv && run === undefined && (
          <CsvMapping
            file={file}
            mapping={fileSettings.mapping}
            onChange={(mapping) => setOwn({ format: 'csv', mapping })}
          />
        )}
        <div aria-live="polite">
          {run === undefined ? (
            <DryRunResult file={file} run={dry} isReady={isReady} />
          ) : (
            <ImportedResult file={file} run={run} />
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

/** How much of a file was sent, and what is waited for. */
function UploadProgress({ file, sent, then }: { file: File; sent: number; then: string }) {
  if (sent >= 1)
    return (
      <Group gap="xs">
        <Loader size={14} aria-hidden />
        <Text size="sm">{then}</Text>
      </Group>
    );
  const part = Math.round(sent * 100);
  return (
    <div>
      <Progress.Root size="sm">
        <Progress.Section value={part} aria-label={`${file.name}, sent`} />
      </Progress.Root>
      <Text size="xs" c="dimmed" mt={4}>
        {part} % sent
      </Text>
    </div>
  );
}

function ImportErrorAlert({ error }: { error: Error }) {
  const faults = error instanceof AssayError ? error.fieldErrors : [];
  const lacks = faults.find(({ property }) => property === 'assessment_id')?.message;
  if (lacks !== undefined)
    return (
      <Text size="sm" c="dimmed">
        Choose an assessment above, which {lacks}.
      </Text>
    );
  const ofFile = faults.find(({ property }) => property === 'file')?.message;
  return (
    <Alert color="red" title="It was not taken">
      {ofFile === undefined ? errorText(error) : `The file ${ofFile}.`}
    </Alert>
  );
}

function DryRunResult({ file, run, isReady }: { file: File; run: ImportRun | undefined; isReady: boolean }) {
  const [isOpen, setOpen] = useState(false);
  if (!isReady)
    return (
      <Text size="sm" c="dimmed">
        Choose an assessment above to see what would change.
      </Text>
    );
  if (run?.error !== undefined) return <ImportErrorAlert error={run.error} />;
  if (run?.job === undefined)
    return <UploadProgress file={file} sent={run?.progress ?? 1} then="Looking at it" />;
  const { job } = run;
  if (!isFinished(job)) return <ImportProgress job={job} />;
  const hasMore = job.preview !== null && Object.values(job.preview).some((findings) => findings.length > 0);
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        Nothing has changed yet. It would be:
      </Text>
      <ImportSummary job={job} isDryRun />
      {job.result?.findings_gone === 0 &&
        job.result.findings_seen_again > 0 &&
        job.options.targets.length === 0 && (
          <Text size="xs" c="dimmed">
            Nothing is gone of what the report says that it covered. Some tools, as Nuclei, say nothing of
            that: name what was scanned as targets, under More options.
          </Text>
        )}
      {(hasMore || job.skips.length > 0) && (
        <div>
          <Button
            size="compact-xs"
            variant="subtle"
            aria-expanded={isOpen}
            onClick={() => setOpen((open) => !open)}
          >
            {isOpen ? 'Hide what it is' : 'Show what it is'}
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

function ImportedResult({ file, run }: { file: File; run: ImportRun }) {
  const cancel = useCancelImport();
  const { job } = run;
  if (run.error !== undefined) return <ImportErrorAlert error={run.error} />;
  if (job === undefined) return <UploadProgress file={file} sent={run.progress} then="It is taken" />;
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
        Import {job.id}
      </Anchor>
    </Stack>
  );
}
