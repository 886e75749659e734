import { Badge, Code, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense } from 'react';
import type { Vulnerability } from '../../queries/client.ts';
import { lastComments, lastRetest } from '../../queries/vulnerability-preview.ts';
import { AttachedPicture } from '../../components/attachment-image.tsx';
import { errorText } from '../../components/notifications.tsx';
import { Time } from '../../components/time.tsx';
import classes from './vulnerability-preview.module.css';

const MarkdownText = lazy(() => import('../../components/markdown.tsx'));

/** Pictures that the pane shows; the page has all. */
const PICTURES = 4;
/** What browsers show as a picture, and that can hold no script. */
const PICTURE = /^image\/(png|jpeg|gif|webp)$/;
const LOCATIONS = 10;

const RETESTS: Readonly<Record<string, string>> = {
  requested: 'Retest requested',
  verified: 'Fix verified',
  failed: 'Retest failed',
  blocked: 'Retest blocked',
  cancelled: 'Retest cancelled',
};

interface PartProps {
  data: Vulnerability;
}

/** A part of the pane with a heading. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
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
export function Texts({ data: { id, description, impact, recommended_fix, validation_steps } }: PartProps) {
  return (
    <Suspense fallback={<Loader size="sm" />}>
      <TextPart title="Description" text={description} id={id} />
      <TextPart title="Impact" text={impact} id={id} />
      <TextPart
        title="Steps"
        text={validation_steps
          .map(({ number, detail }) => `${number}. ${detail.replaceAll('\n', '\n   ')}`)
          .join('\n')}
        id={id}
      />
      <TextPart title="Recommended fix" text={recommended_fix} id={id} />
    </Suspense>
  );
}

function TextPart({ title, text, id }: { title: string; text: string; id: number }) {
  if (text === '') return null;
  return (
    <Part title={title}>
      <Text component="div" size="sm" className={classes.text}>
        <MarkdownText vulnerability={id}>{text}</MarkdownText>
      </Text>
    </Part>
  );
}

/** Where it was found, and what shows it. */
export function Evidence({ data }: PartProps) {
  const { exploitable_locations: locations, location_count: count, http_requests: requests } = data;
  return (
    <>
      {locations.length > 0 && (
        <Part title={`Locations (${count.toLocaleString()})`}>
          {locations.slice(0, LOCATIONS).map(({ value }, index) => (
            <Code key={`${index} ${value}`} block className={classes.location}>
              {value}
            </Code>
          ))}
          {count > LOCATIONS && (
            <Text size="xs" c="dimmed" mt={4}>
              {(count - LOCATIONS).toLocaleString()} more on its page.
            </Text>
          )}
        </Part>
      )}
      {requests[0] !== undefined && (
        <Part title={requests.length === 1 ? 'Evidence' : `Evidence (1 of ${requests.length})`}>
          <Code block className={classes.evidence} tabIndex={0} role="region" aria-label="Evidence">
            {requests[0]}
          </Code>
        </Part>
      )}
    </>
  );
}

/** The pictures among its attachments, and the names of the others. */
export function Attachments({ data: { id, attachments } }: PartProps) {
  if (attachments.length === 0) return null;
  const pictures = attachments.filter(({ content_type }) => PICTURE.test(content_type)).slice(0, PICTURES);
  const others = attachments.filter((one) => !pictures.includes(one));
  return (
    <Part title={`Attachments (${attachments.length})`}>
      <div className={classes.pictures}>
        {pictures.map((one) => (
          <AttachedPicture key={one.id} vulnerability={id} id={one.id} alt={one.filename} />
        ))}
      </div>
      {others.length > 0 && (
        <Text size="sm" className={classes.text}>
          {others.map(({ filename }) => filename).join(', ')}
        </Text>
      )}
    </Part>
  );
}

/** How the last retest stands. */
export function RetestState({ id }: { id: number }) {
  const { data } = useQuery(lastRetest(id));
  if (data === undefined || data === null) return null;
  const message = data.decision_message ?? data.message;
  return (
    <Part title="Retest">
      <Group gap="xs">
        <Badge variant="default" tt="none" fw={400}>
          {RETESTS[data.status] ?? data.status}
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
    </Part>
  );
}

/** The last of its comments, the newest first. */
export function LastComments({ data: { id, comment_count } }: PartProps) {
  const { data = [], error } = useQuery(lastComments(id, comment_count));
  if (comment_count === 0) return null;
  return (
    <Part title={`Comments (${comment_count.toLocaleString()})`}>
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
    </Part>
  );
}
