import { Badge, Code, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense } from 'react';
import type { Vulnerability } from '../../queries/client.ts';
import { recentCommentsQuery } from '../../queries/comments.ts';
import { latestRetestQuery } from '../../queries/retests.ts';
import { commonMessages } from '../../components/messages.ts';
import { fillSentence } from '../../components/fill-sentence.ts';
import { HttpMessage } from '../../components/http-message.tsx';
import { AttachmentImage } from '../../components/attachment-image.tsx';
import { errorText } from '../../components/notifications.ts';
import { Time } from '../../components/time.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { previewMessages } from './messages.ts';
import classes from './preview-pane.module.css';

const MarkdownText = lazy(() => import('../../components/markdown.tsx'));

/** The vulnerability's page shows all. */
const MAX_IMAGES = 4;
/** Images that browsers display and that cannot contain scripts. */
const IMAGE_TYPE = /^image\/(png|jpeg|gif|webp)$/;
const MAX_LOCATIONS = 10;
const EVIDENCE_LINES = 12;

interface SectionProps {
  data: Vulnerability;
}

/** A section with a heading. */
function PreviewSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <Title order={3} size="h6" mb={4}>
        {title}
      </Title>
      {children}
    </section>
  );
}

/** Description, impact, steps and remediation. */
export function TextSections({
  data: { id, description, impact, recommended_fix, validation_steps },
}: SectionProps) {
  return (
    <Suspense fallback={<Loader size="sm" />}>
      <TextSection title="Description" text={description} id={id} />
      <TextSection title="Impact" text={impact} id={id} />
      <TextSection
        title={previewMessages.steps}
        text={validation_steps
          .map(({ number, detail }) => `${number}. ${detail.replaceAll('\n', '\n   ')}`)
          .join('\n')}
        id={id}
      />
      <TextSection title="Remediation" text={recommended_fix} id={id} />
    </Suspense>
  );
}

function TextSection({ title, text, id }: { title: string; text: string; id: number }) {
  if (text === '') return null;
  return (
    <PreviewSection title={title}>
      <Text component="div" size="sm" className={classes.text}>
        <MarkdownText vulnerabilityId={id}>{text}</MarkdownText>
      </Text>
    </PreviewSection>
  );
}

/** Locations and the first piece of evidence. */
export function EvidenceSections({ data }: SectionProps) {
  const { exploitable_locations: locations, location_count: count, http_requests: requests } = data;
  return (
    <>
      {locations.length > 0 && (
        <PreviewSection title={previewMessages.locations(count)}>
          {locations.slice(0, MAX_LOCATIONS).map(({ value }, index) => (
            <Code key={`${index} ${value}`} block className={classes.location}>
              {value}
            </Code>
          ))}
          {count > MAX_LOCATIONS && (
            <DimmedText size="xs" mt={4}>
              {previewMessages.moreLocations(count - MAX_LOCATIONS)}
            </DimmedText>
          )}
        </PreviewSection>
      )}
      {requests[0] !== undefined && (
        <PreviewSection title={previewMessages.evidence(requests.length)}>
          <HttpMessage text={requests[0]} number={1} vulnerabilityId={data.id} foldedLines={EVIDENCE_LINES} />
        </PreviewSection>
      )}
    </>
  );
}

/** Attached images, and the names of other files. */
export function AttachmentsPreview({ data: { id, attachments } }: SectionProps) {
  if (attachments.length === 0) return null;
  const pictures = attachments
    .filter(({ content_type }) => IMAGE_TYPE.test(content_type))
    .slice(0, MAX_IMAGES);
  const otherFiles = attachments.filter((attachment) => !pictures.includes(attachment));
  return (
    <PreviewSection title={previewMessages.attachments(attachments.length)}>
      <div className={classes.pictures}>
        {pictures.map((picture) => (
          <AttachmentImage key={picture.id} vulnerabilityId={id} id={picture.id} alt={picture.filename} />
        ))}
      </div>
      {otherFiles.length > 0 && (
        <Text size="sm" className={classes.text}>
          {otherFiles.map(({ filename }) => filename).join(', ')}
        </Text>
      )}
    </PreviewSection>
  );
}

/** The status of the latest retest. */
export function LatestRetest({ id }: { id: number }) {
  const { data } = useQuery(latestRetestQuery(id));
  if (data === undefined || data === null) return null;
  const message = data.decision_message ?? data.message;
  const user = data.decided_by ?? data.user;
  return (
    <PreviewSection title={previewMessages.latestRetest}>
      <Group gap="xs">
        <Badge variant="default" tt="none" fw={400}>
          {previewMessages.retestStatuses[data.status] ?? data.status}
        </Badge>
        <DimmedText size="xs">
          {fillSentence(previewMessages.retestBy, {
            at: <Time at={data.decided_at ?? data.created_at} />,
            name: commonMessages.person.author(user),
          })}
        </DimmedText>
      </Group>
      {message !== '' && (
        <Text size="sm" mt={4} className={classes.text}>
          {message}
        </Text>
      )}
    </PreviewSection>
  );
}

/** The most recent comments, newest first. */
export function RecentComments({ data: { id, comment_count } }: SectionProps) {
  const { data = [], error } = useQuery(recentCommentsQuery(id, comment_count));
  if (comment_count === 0) return null;
  return (
    <PreviewSection title={previewMessages.comments(comment_count)}>
      {error !== null && <Text size="sm">{errorText(error)}</Text>}
      <Stack gap="xs">
        {data.map((comment) => (
          <div key={comment.id} className={classes.comment}>
            <DimmedText size="xs">
              {fillSentence(
                comment.internal ? previewMessages.internalCommentBy : previewMessages.commentBy,
                {
                  name: commonMessages.person.author(comment.user),
                  at: <Time at={comment.created_at} />,
                },
              )}
            </DimmedText>
            <Text component="div" size="sm" className={classes.text}>
              <Suspense fallback={comment.text}>
                <MarkdownText vulnerabilityId={id}>{comment.text}</MarkdownText>
              </Suspense>
            </Text>
          </div>
        ))}
      </Stack>
    </PreviewSection>
  );
}
