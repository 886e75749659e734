import { Alert, Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
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
import { Time } from '../../components/time.tsx';
import { currentUserQuery, usePermissions } from '../../session/permissions.ts';
import { OutsideScopeNote } from '../assessments/outside-scope.tsx';
import { formatLabel, formatSize } from './formats.ts';
import { ImportSummary, ImportPreview, ImportProgress, ImportErrors } from './import-result.tsx';
import { ImportStateBadge } from './import-state-badge.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import classes from './imports.module.css';
import { queryMessages } from '../../queries/messages.ts';
import { importMessages } from './messages.ts';

const messages = importMessages.page;

/** The page of one import: progress, result, details, and actions to cancel or undo it. */
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
  return (
    <PageLayout
      title={job.file.filename === '' ? importMessages.importName(job.id) : job.file.filename}
      actions={
        canCancelOrUndo && (
          <>
            {!isFinished(job) && (
              <Button
                size="xs"
                variant="default"
                loading={cancel.isPending}
                onClick={() => cancel.mutate(job.id)}
              >
                Cancel
              </Button>
            )}
            {isFinished(job) && !job.options.dry_run && job.undone === null && (
              <Button size="xs" variant="default" onClick={() => setUndoOpen(true)}>
                {messages.undo}
              </Button>
            )}
          </>
        )
      }
      toolbar={
        <Group gap="xs">
          <Anchor component={Link} to="/imports" size="sm">
            Imports
          </Anchor>
          <DimmedText>{job.options.dry_run ? messages.dryRun : importMessages.importName(job.id)}</DimmedText>
        </Group>
      }
    >
      <Stack gap="md" className={classes.page}>
        <section className={classes.sheet} aria-label="Result" aria-live="polite">
          <Stack gap="sm">
            <ImportStateBadge state={job.state} isUndone={job.undone !== null} />
            {!isFinished(job) && <ImportProgress job={job} />}
            <ImportSummary job={job} isDryRun={job.options.dry_run} />
            {job.undone !== null && (
              <Alert color="gray">
                {fillSentence(messages.undone(queryMessages.import.undoResult(job.undone), job.undone.kept), {
                  at: <Time at={job.undone.at} exact />,
                })}
              </Alert>
            )}
            {!job.options.dry_run &&
              (job.result?.assets_outside_scope ?? 0) > 0 &&
              job.assessment_id !== null && <OutsideScopeNote uid={job.assessment_id} />}
            <ImportErrors job={job} />
            {job.options.dry_run && <ImportPreview job={job} />}
          </Stack>
        </section>
        <section className={classes.sheet} aria-label="Report">
          <Title order={2} size="h5" mb="sm">
            Report
          </Title>
          <ImportFacts job={job} />
        </section>
      </Stack>
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
      <DescriptionItem name="SHA-256" wide>
        {file.sha256}
      </DescriptionItem>
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
