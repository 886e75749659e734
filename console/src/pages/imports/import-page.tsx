import { Alert, Anchor, Button, Text } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { type ImportJob } from '../../queries/client.ts';
import { isFinished, useCancelImport, useImport, useUndoImport } from '../../queries/imports.ts';
import { fillSentence } from '../../components/fill-sentence.ts';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { PageFallback } from '../../components/page-fallback.tsx';
import { PageLayout } from '../../components/page.tsx';
import { OrganizationName } from '../../components/identity-marks.tsx';
import { Columns, PageSection } from '../../components/section.tsx';
import { Time } from '../../components/time.tsx';
import { currentUserQuery, usePermissions } from '../../session/permissions.ts';
import { importName } from './columns.tsx';
import { formatLabel, formatSize } from './formats.ts';
import { ImportChanges, ImportError, PreviewedFindings } from './import-changes.tsx';
import { ImportProgress } from './import-progress.tsx';
import { PreviewSentence, ResultSentence } from './import-sentence.tsx';
import { ImportedFindings } from './imported-findings.tsx';
import { LeftToDo } from './left-to-do.tsx';
import { ImportStateBadge } from './import-state-badge.tsx';
import classes from './imports.module.css';
import { queryMessages } from '../../queries/messages.ts';
import { importMessages } from './messages.ts';

const messages = importMessages.page;

/** The page of one import: progress, result, what is left to do, details, and actions to cancel or undo it. */
export function ImportPage() {
  const id = Number(useParams({ from: '/imports/$id' }).id);
  const { data: job, error, refetch } = useImport(id);
  const { data: user } = useQuery(currentUserQuery);
  const permissions = usePermissions();
  const [isUndoOpen, setUndoOpen] = useState(false);
  const cancel = useCancelImport();
  if (error !== null || job === undefined)
    return <PageFallback noun="import" list="/imports" error={error} refetch={refetch} />;
  // Admins may cancel or undo it, and so may the user who started it while their role permits imports.
  const canCancelOrUndo =
    user?.admin === true ||
    (job.created_by !== null &&
      job.created_by.id === user?.id &&
      job.assessment_id !== null &&
      permissions.allows('write_assets', job.assessment_id));
  const isDryRun = job.options.dry_run;
  const isDone = !isDryRun && job.undone === null;
  return (
    <PageLayout
      title={importName(job)}
      tabs={<ImportStateBadge state={job.state} isUndone={job.undone !== null} />}
      actions={
        canCancelOrUndo && (
          <>
            {!isFinished(job) && (
              <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate(job.id)}>
                Cancel
              </Button>
            )}
            {isFinished(job) && isDone && (
              <Button
                variant="default"
                leftSection={<IconArrowBackUp size={16} aria-hidden />}
                onClick={() => setUndoOpen(true)}
              >
                {messages.undo}
              </Button>
            )}
          </>
        )
      }
      isFullWidth
    >
      <Columns
        width="340"
        label="Report"
        aside={
          <PageSection title="Report">
            <ImportFacts job={job} />
          </PageSection>
        }
      >
        <section aria-label="Result" aria-live="polite">
          {!isFinished(job) && (
            <div className={classes.line}>
              <ImportProgress job={job} />
            </div>
          )}
          {isDryRun ? <PreviewSentence job={job} /> : <ResultSentence job={job} />}
          {job.undone !== null && (
            <Alert color="gray" className={classes.alert}>
              {fillSentence(messages.undone(queryMessages.import.undoResult(job.undone), job.undone.kept), {
                at: <Time at={job.undone.at} exact />,
              })}
            </Alert>
          )}
          {job.error !== null && (
            <div className={classes.alert}>
              <ImportError job={job} />
            </div>
          )}
          {isDone && isFinished(job) && <LeftToDo job={job} />}
          <ImportChanges
            job={job}
            findings={(kind, count) =>
              isDryRun ? (
                <PreviewedFindings job={job} kind={kind} count={count} />
              ) : (
                <ImportedFindings job={job} kind={kind} count={count} />
              )
            }
          />
        </section>
      </Columns>
      {isUndoOpen && <UndoDialog job={job} onClose={() => setUndoOpen(false)} />}
    </PageLayout>
  );
}

function ImportFacts({ job }: { job: ImportJob }) {
  const { file, options } = job;
  return (
    <DescriptionList>
      <DescriptionItem name="Format">{formatLabel(job.format)}</DescriptionItem>
      <DescriptionItem name="Size">{formatSize(file.size)}</DescriptionItem>
      <DescriptionItem name="Assessment">
        <AssessmentLink uid={job.assessment_id} />
      </DescriptionItem>
      <DescriptionItem name="Organization">
        <OrganizationName uid={job.organization_uid} />
      </DescriptionItem>
      <DescriptionItem name={messages.startedBy}>
        {job.created_by?.name ?? job.created_by?.email ?? messages.byCommandLine}
      </DescriptionItem>
      <DescriptionItem name="Started">
        <Time at={job.created_at} exact />
      </DescriptionItem>
      {job.finished_at !== null && (
        <DescriptionItem name="Finished">
          <Time at={job.finished_at} exact />
        </DescriptionItem>
      )}
      <DescriptionItem name={messages.missingFindings}>
        {options.when_gone === 'fix' ? messages.setToFixed : messages.markedAsGone}
      </DescriptionItem>
      {options.targets.length > 0 && (
        <DescriptionItem name="Targets">{options.targets.join(', ')}</DescriptionItem>
      )}
      {options.tags.length > 0 && <DescriptionItem name="Tags">{options.tags.join(', ')}</DescriptionItem>}
      {options.minimum_severity !== null && (
        <DescriptionItem name={messages.minimumSeverity}>{options.minimum_severity}</DescriptionItem>
      )}
      {options.scanned_at !== null && (
        <DescriptionItem name={messages.scannedAt}>
          <Time at={options.scanned_at} exact />
        </DescriptionItem>
      )}
      {options.date_order !== null && (
        <DescriptionItem name={messages.dateOrder}>
          {options.date_order === 'dmy' ? messages.dayFirst : messages.monthFirst}
        </DescriptionItem>
      )}
      {options.carry && <DescriptionItem name="Decisions">{messages.carriedOver}</DescriptionItem>}
      <DescriptionItem name="Number">{importMessages.importName(job.id)}</DescriptionItem>
      {options.dry_run && <DescriptionItem name="Kind">{messages.dryRun}</DescriptionItem>}
      <DescriptionItem name="SHA-256">{file.sha256}</DescriptionItem>
    </DescriptionList>
  );
}

function AssessmentLink({ uid }: { uid: string | null }) {
  if (uid === null) return 'None';
  return (
    <Anchor component={Link} to={`/assessments/${uid}`} size="sm">
      <AssessmentName uid={uid} />
    </Anchor>
  );
}

function UndoDialog({ job, onClose }: { job: ImportJob; onClose: () => void }) {
  const undo = useUndoImport();
  const { result } = job;
  return (
    <FormDialog
      title={messages.undo}
      submitLabel="Undo"
      isDestructive
      isPending={undo.isPending}
      onClose={onClose}
      onSubmit={() => undo.mutate(job.id, { onSettled: onClose })}
    >
      <Text size="sm">
        {messages.undoWarning(result?.findings_created ?? 0, result?.assets_created ?? 0)}
      </Text>
    </FormDialog>
  );
}
