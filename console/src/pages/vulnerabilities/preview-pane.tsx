import { Alert, Button, Group, Loader, ScrollArea, Stack, Text, Title } from '@mantine/core';
import { IconArrowsDiagonal, IconChevronDown, IconChevronUp, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import type { VulnerabilityWithRights } from '../../queries/client.ts';
import { isClosed, vulnerabilityQuery } from '../../queries/vulnerabilities.ts';
import { IconAction } from '../../components/page-actions.tsx';
import { pluralize } from '../../components/pluralize.ts';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { DueDate } from '../../components/due-date.tsx';
import { PersonMark, TagDot } from '../../components/identity-marks.tsx';
import { SeverityMark, StatusMark } from '../../components/marks.tsx';
import { GoneNote } from '../../components/vulnerability-pills.tsx';
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { errorText } from '../../components/notifications.tsx';
import { Time } from '../../components/time.tsx';
import {
  AttachmentsPreview,
  EvidenceSections,
  RecentComments,
  LatestRetest,
  TextSections,
} from './preview-sections.tsx';
import { type EditKind, type EditTarget, mayEdit } from './edit-targets.ts';
import { previewMessages } from './messages.ts';
import classes from './preview-pane.module.css';

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
  return (
    <aside className={classes.pane} aria-label={previewMessages.label}>
      <div className={classes.head}>
        <span className={classes.number}>#{id}</span>
        {index !== undefined && total !== undefined && (
          <span className={classes.position}>{previewMessages.position(index + 1, total)}</span>
        )}
        <Group gap={4} ml="auto" wrap="nowrap">
          <IconAction label={previewMessages.previous} icon={IconChevronUp} onClick={() => onStep(-1)} />
          <IconAction label={previewMessages.next} icon={IconChevronDown} onClick={() => onStep(1)} />
          <Button
            component={Link}
            to={`/vulnerabilities/${id}`}
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
      {data !== undefined && (
        <ScrollArea className={classes.body} key={id}>
          <Stack gap="md" p="md">
            <div>
              <Title order={2} size="h2" className={classes.text} dir="auto">
                {data.title}
              </Title>
              <DimmedText>
                <AssessmentName uid={data.assessment_id} />
              </DimmedText>
            </div>
            {data.draft === true && (
              <Suspense>
                <DraftNote vulnerability={data} />
              </Suspense>
            )}
            <GoneNote vulnerability={data} />
            <Group gap="xs">
              <PreviewField kind="severity" data={data} onEdit={onEdit}>
                <SeverityMark severity={data.severity} withLabel />
                {data.cvss_score !== null && (
                  <span className={classes.score}>{data.cvss_score.toFixed(1)}</span>
                )}
              </PreviewField>
              <PreviewField kind="status" data={data} onEdit={onEdit}>
                <StatusMark id={data.status_id} withLabel />
              </PreviewField>
              <PreviewField kind="assignee" data={data} onEdit={onEdit}>
                <PersonMark person={data.assignee} withLabel />
              </PreviewField>
              {(data.may.comment || data.comment_count > 0) && (
                <PreviewField kind="comment" data={data} onEdit={onEdit}>
                  {data.comment_count === 0 ? 'Comment' : pluralize(data.comment_count, 'comment')}
                </PreviewField>
              )}
            </Group>
            <Group gap="xs" fz="sm">
              {data.tags.map(({ id: tagId, name }) => (
                <TagDot key={name} id={tagId} name={name} />
              ))}
              {data.may.triage && (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  ml={data.tags.length === 0 ? -8 : 0}
                  onClick={() => onEdit('tags', toTarget(data))}
                >
                  {previewMessages.addTags}
                </Button>
              )}
            </Group>
            <DescriptionList>
              <DescriptionItem name="Reported">
                <Time at={data.resolved_at} exact />
              </DescriptionItem>
              {data.due_on !== null && !isClosed(data) && (
                <DescriptionItem name="Due">
                  <DueDate vulnerability={data} />
                </DescriptionItem>
              )}
              {data.cve_ids.length > 0 && (
                <DescriptionItem name="CVE">{data.cve_ids.join(', ')}</DescriptionItem>
              )}
              {data.cwe_ids.length > 0 && (
                <DescriptionItem name="CWE">{data.cwe_ids.join(', ')}</DescriptionItem>
              )}
              <DescriptionItem name="Source">{data.source}</DescriptionItem>
            </DescriptionList>
            <TextSections data={data} />
            <EvidenceSections data={data} />
            <AttachmentsPreview data={data} />
            <LatestRetest id={id} />
            <RecentComments data={data} />
          </Stack>
        </ScrollArea>
      )}
    </aside>
  );
}

const toTarget = (data: VulnerabilityWithRights): EditTarget => ({ ...data, rights: data.may });

interface PreviewFieldProps {
  kind: EditKind;
  data: VulnerabilityWithRights;
  onEdit: VulnerabilityPreviewProps['onEdit'];
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
    <Button size="compact-sm" variant="default" onClick={() => onEdit(kind, target)}>
      {children}
    </Button>
  );
}
