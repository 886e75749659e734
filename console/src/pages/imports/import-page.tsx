import { Alert, Anchor, Button, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { AssayError, type ImportJob } from '../../queries/client.ts';
import {
  isFinished,
  undoResultText,
  useCancelImport,
  useImport,
  useUndoImport,
} from '../../queries/imports.ts';
import { pluralize, pluralizeVulnerabilities } from '../../components/pluralize.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.tsx';
import { PageLayout } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { currentUser } from '../../session/current-user.ts';
import { formatLabel, formatSize } from './formats.ts';
import { ImportSummary, ImportPreview, ImportProgress, ImportErrors } from './import-result.tsx';
import { ImportStateBadge } from './import-state-badge.tsx';
import classes from './imports.module.css';

/** One import: how far it is, what it did, what of the report was not taken; cancelled or undone here. */
export function ImportPage() {
  const id = Number(useParams({ from: '/imports/$id' }).id);
  const { data: job, error } = useImport(id);
  const { data: who } = useQuery(currentUser);
  const [isAsked, setAsked] = useState(false);
  const cancel = useCancelImport();
  if (error instanceof AssayError && (error.status === 404 || error.status === 400))
    return <EmptyState title="No such import">You cannot reach it, or there is none.</EmptyState>;
  if (error !== null) return <Alert color="red">{errorText(error)}</Alert>;
  if (job === undefined) return <Loader m="md" size="sm" aria-label="Reading" />;
  // Its starter and admins.
  const mayAct = who?.admin === true || (who !== undefined && job.created_by?.id === who.id);
  return (
    <PageLayout
      title={job.file.filename === '' ? `Import ${job.id}` : job.file.filename}
      actions={
        mayAct && (
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
              <Button size="xs" variant="default" onClick={() => setAsked(true)}>
                Undo the import
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
          <Text size="sm" c="dimmed">
            {job.options.dry_run ? 'Dry run: nothing was changed' : `Import ${job.id}`}
          </Text>
        </Group>
      }
    >
      <Stack gap="md" className={classes.page}>
        <section className={classes.sheet} aria-label="Result" aria-live="polite">
          <Stack gap="sm">
            <ImportStateBadge state={job.state} />
            {!isFinished(job) && <ImportProgress job={job} />}
            <ImportSummary job={job} isDryRun={job.options.dry_run} />
            {job.undone !== null && (
              <Alert color="gray" title="Undone">
                <Time at={job.undone.at} exact />: {undoResultText(job.undone)}, and{' '}
                {job.undone.kept.toLocaleString()} kept that others had changed.
              </Alert>
            )}
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
      {isAsked && <UndoDialog job={job} onClose={() => setAsked(false)} />}
    </PageLayout>
  );
}

function ImportFacts({ job }: { job: ImportJob }) {
  const { file, options } = job;
  const facts: [string, ReactNode][] = [
    ['Format', formatLabel(job.format)],
    ['Size', formatSize(file.size)],
    ['Assessment', <AssessmentLink key="assessment" uid={job.assessment_id} />],
    ['Organization', job.organization_uid],
    ['Started by', job.created_by?.name ?? job.created_by?.email ?? 'the command line'],
    ['Started', <Time key="started" at={job.created_at} exact />],
    ...(job.finished_at === null
      ? []
      : ([['Ended', <Time key="ended" at={job.finished_at} exact />]] satisfies [string, ReactNode][])),
    ['What it no longer has', options.when_gone === 'fix' ? 'is set to Fixed' : 'is kept'],
    ...(options.targets.length > 0
      ? ([['Targets', options.targets.join(', ')]] satisfies [string, ReactNode][])
      : []),
    ...(options.tags.length > 0 ? ([['Tags', options.tags.join(', ')]] satisfies [string, ReactNode][]) : []),
    ...(options.minimum_severity === null
      ? []
      : ([['Least severity', options.minimum_severity]] satisfies [string, ReactNode][])),
    ...(options.scanned_at === null
      ? []
      : ([['Scanned at', <Time key="scanned" at={options.scanned_at} exact />]] satisfies [
          string,
          ReactNode,
        ][])),
    ...(options.carry ? ([['Decisions', 'taken over']] satisfies [string, ReactNode][]) : []),
    ['SHA-256', file.sha256],
  ];
  return (
    <DescriptionList>
      {facts.map(([name, value]) => (
        <DescriptionItem key={name} name={name} wide={name === 'SHA-256'}>
          {value}
        </DescriptionItem>
      ))}
    </DescriptionList>
  );
}

function AssessmentLink({ uid }: { uid: string | null }) {
  if (uid === null) return 'none';
  return (
    <Anchor component={Link} to={`/assessments/${uid}`} size="sm">
      {uid}
    </Anchor>
  );
}

function UndoDialog({ job, onClose }: { job: ImportJob; onClose: () => void }) {
  const undo = useUndoImport();
  const { result } = job;
  return (
    <FormDialog
      title="Undo the import"
      submitLabel="Undo"
      isDestructive
      isPending={undo.isPending}
      onClose={onClose}
      onSubmit={() => undo.mutate(job.id, { onSettled: onClose })}
    >
      <Text size="sm">
        Up to {pluralizeVulnerabilities(result?.findings_created ?? 0)} and{' '}
        {pluralize(result?.assets_created ?? 0, 'asset')} that it alone made are taken away, the statuses that
        it set are set back, and what it told to be gone is so no longer. What a person or another import
        changed since stays, and ports stay. This cannot be taken back, but the report can be imported again.
      </Text>
    </FormDialog>
  );
}
