import { Alert, Anchor, Button, Code, Group, Loader, ScrollArea, Stack, Text, Title } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import type { VulnerabilityWithRights } from '../../queries/client.ts';
import { isClosed, vulnerabilityQuery } from '../../queries/vulnerabilities.ts';
import { IconAction } from '../../components/page-actions.tsx';
import { pluralize } from '../../components/pluralize.ts';
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
  onClose: () => void;
  onEdit: (kind: EditKind, target: EditTarget) => void;
}

/** A vulnerability beside the list, with enough detail to triage it. */
export function PreviewPane({ id, onClose, onEdit }: VulnerabilityPreviewProps) {
  const { data, error } = useQuery(vulnerabilityQuery(id));
  return (
    <aside className={classes.pane} aria-label={previewMessages.label}>
      <Group justify="space-between" wrap="nowrap" className={classes.head}>
        <Anchor component={Link} to={`/vulnerabilities/${id}`} size="sm">
          {previewMessages.open(id)}
        </Anchor>
        <IconAction label={previewMessages.close} icon={IconX} onClick={onClose} />
      </Group>
      {error !== null && <Alert color="red">{errorText(error)}</Alert>}
      {data === undefined && error === null && <Loader m="md" size="sm" />}
      {data !== undefined && (
        <ScrollArea className={classes.body} key={id}>
          <Stack gap="md" p="md">
            <Title order={2} size="h4" className={classes.text}>
              {data.title}
            </Title>
            {data.draft === true && (
              <Suspense>
                <DraftNote vulnerability={data} />
              </Suspense>
            )}
            <GoneNote vulnerability={data} />
            <Group gap="xs">
              <PreviewField kind="severity" data={data} onEdit={onEdit}>
                <SeverityMark severity={data.severity} withLabel />
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
              <DescriptionItem name="Assessment">{data.listing.codename}</DescriptionItem>
              <DescriptionItem name="Reported">
                <Time at={data.resolved_at} exact />
              </DescriptionItem>
              {data.due_on !== null && !isClosed(data) && (
                <DescriptionItem name="Due">
                  <DueDate vulnerability={data} />
                </DescriptionItem>
              )}
              <DescriptionItem name={previewMessages.cvssScore}>
                {data.cvss_score ?? previewMessages.notScored}
                {data.cvss_vector !== null && <Code ml={6}>{data.cvss_vector}</Code>}
              </DescriptionItem>
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
