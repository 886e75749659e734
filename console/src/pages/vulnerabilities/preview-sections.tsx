import { Badge, Code, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense } from 'react';
import type { Vulnerability } from '../../queries/client.ts';
import { recentComments, latestRetest } from '../../queries/vulnerability-preview.ts';
import { AttachmentImage } from '../../components/attachment-image.tsx';
import { errorText } from '../../components/notifications.tsx';
import { Time } from '../../components/time.tsx';
import classes from './vulnerability-preview.module.css';

const MarkdownText = lazy(() => import('../../components/markdown.tsx'));

/** Pictures that the pane shows; the page has all. */
const MAX_IMAGES = 4;
/** What browsers show as a picture, and that can hold no script. */
const IMAGE_TYPE = /^image\/(png|jpeg|gif|webp)$/;
const MAX_LOCATIONS = 10;

const RETEST_LABELS: Readonly<Record<string, string>> = {
  requested: 'Retest requested',
  verified: 'Fix verified',
  failed: 'Retest failed',
  blocked: 'Retest blocked',
  cancelled: 'Retest cancelled',
};

interface SectionProps {
  data: Vulnerability;
}

/** A part of the pane with a heading. */
export function PreviewSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <Title order={3} size="h6" mb={4}>
        {title}
      </Title>
      {children}
    </section>
  );
}

/** What was written: description, impact, steps and fix. */
export function TextSections({
  data: { id, description, impact, recommended_fix, validation_steps },
}: SectionProps) {
  return (
    <Suspense fallback={<Loader size="sm" />}>
      <TextSection title="Description" text={description} id={id} />
      <TextSection title="Impact" text={impact} id={id} />
      <TextSection
        title="Steps"
        text={validation_steps
          .map(({ number, detail }) => `${number}. ${detail.replaceAll('\n', '\n   ')}`)
          .join('\n')}
        id={id}
      />
      <TextSection title="Recommended fix" text={recommended_fix} id={id} />
    </Suspense>
  );
}

function TextSection({ title, text, id }: { title: string; text: string; id: number }) {
  if (text === '') return null;
  return (
    <PreviewSection title={title}>
      <Text component="div" size="sm" className={classes.text}>
        <MarkdownText vulnerability={id}>{text}</MarkdownText>
      </Text>
    </PreviewSection>
  );
}

/** Where it was found, and what shows it. */
export function EvidenceSections({ data }: SectionProps) {
  const { exploitable_locations: locations, location_count: count, http_requests: requests } = data;
  return (
    <>
      {locations.length > 0 && (
        <PreviewSection title={`Locations (${count.toLocaleString()})`}>
          {locations.slice(0, MAX_LOCATIONS).map(({ value }, index) => (
            <Code key={`${index} ${value}`} block className={classes.location}>
              {value}
            </Code>
          ))}
          {count > MAX_LOCATIONS && (
            <Text size="xs" c="dimmed" mt={4}>
              {(count - MAX_LOCATIONS).toLocaleString()} more on its page.
            </Text>
          )}
        </PreviewSection>
      )}
      {requests[0] !== undefined && (
        <PreviewSection title={requests.length === 1 ? 'Evidence' : `Evidence (1 of ${requests.length})`}>
          <Code block className={classes.evidence} tabIndex={0} role="region" aria-label="Evidence">
            {requests[0]}
          </Code>
        </PreviewSection>
      )}
    </>
  );
}

/** The pictures among its attachments, and the names of the others. */
export function AttachmentsPreview({ data: { id, attachments } }: SectionProps) {
  if (attachments.length === 0) return null;
  const pictures = attachments
    .filter(({ content_type }) => IMAGE_TYPE.test(content_type))
    .slice(0, MAX_IMAGES);
  const others = attachments.filter((one) => !pictures.includes(one));
  return (
    <PreviewSection title={`Attachments (${attachments.length})`}>
      <div className={classes.pictures}>
        {pictures.map((one) => (
          <AttachmentImage key={one.id} vulnerability={id} id={one.id} alt={one.filename} />
        ))}
      </div>
      {others.length > 0 && (
        <Text size="sm" className={classes.text}>
          {others.map(({ filename }) => filename).join(', ')}
        </Text>
      )}
    </PreviewSection>
  );
}

/** How the last retest stands. */
export function LatestRetest({ id }: { id: number }) {
  const { data } = useQuery(latestRetest(id));
  if (data === undefined || data === null) return null;
  const message = data.decision_message ?? data.message;
  return (
    <PreviewSection title="Retest">
      <Group gap="xs">
        <Badge variant="default" tt="none" fw={400}>
          {RETEST_LABELS[data.status] ?? data.status}
        </Badge>
        <Text size="xs" c="dimmed">
          <Time at={data.decided_at ?? data.created_at} /> by{' '}
          {(data.decided_by ?? data.user)?.name ?? (data.decided_by ?? data.user)?.email ?? 'somebody'}
        </Text>
      </Group>
      {message !== '' && (
        <Text size="sm" mt={4} className={classes.text}>
          {message}
        </Text>
      )}
    </PreviewSection>
  );
}

/** The last of its comments, the newest first. */
export function RecentComments({ data: { id, comment_count } }: SectionProps) {
  const { data = [], error } = useQuery(recentComments(id, comment_count));
  if (comment_count === 0) return null;
  return (
    <PreviewSection title={`Comments (${comment_count.toLocaleString()})`}>
      {error !== null && <Text size="sm">{errorText(error)}</Text>}
      <Stack gap="xs">
        {data.map((comment) => (
          <div key={comment.id} className={classes.comment}>
            <Text size="xs" c="dimmed">
              {comment.user?.name ?? comment.user?.email ?? 'Somebody'}, <Time at={comment.created_at} />
              {comment.internal && ', internal'}
            </Text>
            <Text component="div" size="sm" className={classes.text}>
              <Suspense fallback={comment.text}>
                <MarkdownText vulnerability={id}>{comment.text}</MarkdownText>
              </Suspense>
            </Text>
          </div>
        ))}
      </Stack>
    </PreviewSection>
  );
}
