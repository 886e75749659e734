import { Alert, Button, Group, Loader, ScrollArea, Stack, Text, Title } from '@mantine/core';
import { IconArrowsDiagonal, IconChevronDown, IconChevronUp, IconMessage, IconX } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useRouter } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import type { VulnerabilityWithRights } from '../../queries/client.ts';
import { findTrail } from '../../queries/finding-trail.ts';
import { isClosed, vulnerabilityQuery } from '../../queries/vulnerabilities.ts';
import { useShortcuts } from '../../app/shortcuts.tsx';
import { IconAction } from '../../components/page-actions.tsx';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { DueDate } from '../../components/due-date.tsx';
import { PersonMark, TagDot } from '../../components/identity-marks.tsx';
import { SeverityMark, StatusMark } from '../../components/marks.tsx';
import { GoneNote } from '../../components/vulnerability-pills.tsx';
import { NextStepButton, useNextStep } from '../../components/next-step.tsx';
import { nextStepMessages } from '../../components/next-step-messages.ts';
import { PaneHandle, usePaneWidth } from '../../components/pane-handle.tsx';
import { errorText } from '../../components/notifications.ts';
import {
  AttachmentsPreview,
  EvidenceSections,
  RecentComments,
  LatestRetest,
  TextSections,
} from './preview-sections.tsx';
import { type EditKind, type EditTarget, mayEdit } from './edit-targets.ts';
import { previewMessages, vulnerabilityListMessages } from './messages.ts';
import classes from './preview-pane.module.css';

/** Pixels. */
const PREVIEW_WIDTH = { initial: 500, min: 420, max: 640 };

const DraftNote = lazy(() => import('../../components/draft-note.tsx'));

interface VulnerabilityPreviewProps {
  id: number;
  /** Its row in the list; undefined until the list has loaded it. */
  index: number | undefined;
  /** Number of rows; undefined until they are counted. */
  total: number | undefined;
  /** Shows the row at an offset. */
  onStep: (offset: 1 | -1) => void;
  onClose: () => void;
  onEdit: (kind: EditKind, target: EditTarget) => void;
}

/** A vulnerability beside the list, with enough detail to triage it. */
export default function PreviewPane({
  id,
  index,
  total,
  onStep,
  onClose,
  onEdit,
}: VulnerabilityPreviewProps) {
  const { data, error } = useQuery(vulnerabilityQuery(id));
  const client = useQueryClient();
  const router = useRouter();
  const pane = usePaneWidth('preview', PREVIEW_WIDTH);
  return (
    <aside className={classes.pane} aria-label={previewMessages.label} style={{ flexBasis: pane.width }}>
      <PaneHandle label={previewMessages.width} pane={pane} />
      <div className={classes.head}>
        <span className={classes.number}>#{id}</span>
        {index !== undefined && total !== undefined && (
          <span className={classes.position}>{previewMessages.position(index + 1, total)}</span>
        )}
        <Group gap={4} ml="auto" wrap="nowrap">
          <IconAction label={previewMessages.previous} icon={IconChevronUp} onClick={() => onStep(-1)} />
          <IconAction label={previewMessages.next} icon={IconChevronDown} onClick={() => onStep(1)} />
          <Button
            renderRoot={(props) => (
              <Link
                to="/vulnerabilities/$id"
                params={{ id: String(id) }}
                state={{ trail: findTrail(client, id, router.latestLocation.href) }}
                {...props}
              />
            )}
            size="xs"
            variant="subtle"
            color="gray"
            aria-label={previewMessages.open(id)}
            leftSection={<IconArrowsDiagonal size={16} aria-hidden />}
          >
            {previewMessages.openLabel}
          </Button>
          <IconAction label={previewMessages.close} icon={IconX} onClick={onClose} />
        </Group>
      </div>
      {error !== null && <Alert color="red">{errorText(error)}</Alert>}
      {data === undefined && error === null && <Loader m="md" size="sm" />}
      {data !== undefined && <Preview key={id} data={data} onEdit={onEdit} />}
    </aside>
  );
}

interface PreviewProps {
  data: VulnerabilityWithRights;
  onEdit: VulnerabilityPreviewProps['onEdit'];
}

function Preview({ data, onEdit }: PreviewProps) {
  const { id, status_id, may } = data;
  const navigate = useNavigate();
  const nextStep = useNextStep(
    { id, status_id, rights: may },
    { onDecideRetest: () => void navigate({ to: `/vulnerabilities/${id}` }) },
  );
  useShortcuts(
    nextStep.run === undefined ? {} : { '.': { label: nextStepMessages.label, run: nextStep.run } },
  );
  const hasNextStep = nextStep.step !== undefined || nextStep.dismiss !== undefined;
  const tags = data.tags.map(({ id: tagId, name }) => <TagDot key={name} id={tagId} name={name} />);
  return (
    <>
      <ScrollArea className={classes.body}>
        <Stack gap={18} p="16px 20px 24px">
          <div>
            <Title order={2} size="h2" className={classes.text} dir="auto">
              {data.title}
            </Title>
            <DimmedText>
              <AssessmentName uid={data.assessment_id} />
              {[...data.cve_ids, ...data.cwe_ids].map((reference) => ` · ${reference}`)}
            </DimmedText>
          </div>
          {data.draft === true && (
            <Suspense>
              <DraftNote vulnerability={data} />
            </Suspense>
          )}
          <GoneNote vulnerability={data} />
          <Group gap={6}>
            <PreviewField kind="severity" data={data} onEdit={onEdit}>
              <SeverityMark severity={data.severity} withLabel />
              {data.cvss_score !== null && (
                <span className={classes.score}>{data.cvss_score.toFixed(1)}</span>
              )}
            </PreviewField>
            <PreviewField kind="status" data={data} onEdit={onEdit}>
              <StatusMark id={status_id} withLabel />
            </PreviewField>
            <PreviewField kind="assignee" data={data} onEdit={onEdit}>
              <PersonMark person={data.assignee} withLabel />
            </PreviewField>
            {!isClosed(data) && (
              <PreviewField kind="due" data={data} onEdit={onEdit}>
                {data.due_on === null ? (
                  vulnerabilityListMessages.noDueDate
                ) : (
                  <DueDate vulnerability={data} />
                )}
              </PreviewField>
            )}
            <PreviewField kind="tags" data={data} onEdit={onEdit}>
              {tags.length === 0 ? may.triage && previewMessages.addTags : tags}
            </PreviewField>
          </Group>
          <LatestRetest id={id} />
          <TextSections data={data} />
          <EvidenceSections data={data} />
          <AttachmentsPreview data={data} />
          <RecentComments data={data} />
        </Stack>
      </ScrollArea>
      {(hasNextStep || may.comment) && (
        <div className={classes.foot}>
          <NextStepButton control={nextStep} />
          {may.comment && (
            <Button
              variant="subtle"
              color="gray"
              ml="auto"
              leftSection={<IconMessage size={16} aria-hidden />}
              onClick={() => onEdit('comment', toTarget(data))}
            >
              {previewMessages.comment}
            </Button>
          )}
        </div>
      )}
      {nextStep.dialog}
    </>
  );
}

const toTarget = (data: VulnerabilityWithRights): EditTarget => ({ ...data, rights: data.may });

interface PreviewFieldProps extends PreviewProps {
  kind: EditKind;
  children: ReactNode;
}

/** A value, as a button if the user may edit it. */
function PreviewField({ kind, data, onEdit, children }: PreviewFieldProps) {
  const target = toTarget(data);
  if (!mayEdit(kind, target))
    return (
      <Text size="sm" component="span">
        {children}
      </Text>
    );
  return (
    <Button size="xs" variant="default" className={classes.field} onClick={() => onEdit(kind, target)}>
      {children}
    </Button>
  );
}
