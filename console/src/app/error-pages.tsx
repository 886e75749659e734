import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { EmptyState } from '../components/empty-state.tsx';
import { errorText } from '../components/notifications.ts';
import { PageLayout } from '../components/page.tsx';
import { appMessages } from './messages.ts';
import { commonMessages } from '../components/messages.ts';
import { isMissingPart } from './missing-part.ts';

const { errors } = appMessages;

/** The minimum time between automatic reloads, in milliseconds. */
const RELOAD_INTERVAL = 60_000;

export function NotFoundPage() {
  return (
    <PageLayout title={errors.notFound}>
      <EmptyState
        title={errors.noSuchPage}
        action={
          <Button variant="default" renderRoot={(props) => <Link to="/" {...props} />}>
            {errors.goHome}
          </Button>
        }
      >
        {errors.notFoundHint}
      </EmptyState>
    </PageLayout>
  );
}

/** Shown in place of a page that failed to render; the navigation keeps working. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  if (isMissingPart(error)) return <MissingPart />;
  return (
    <PageLayout title={errors.failed}>
      <EmptyState
        title={errorText(error)}
        action={
          <Button
            onClick={() => {
              reset();
              void router.invalidate();
            }}
          >
            {commonMessages.tryAgain}
          </Button>
        }
      />
    </PageLayout>
  );
}

/** Reloads the document when the server answers, as the files of the console may have changed. */
function MissingPart() {
  const server = useQuery({ queryKey: ['server'], queryFn: checkServer, gcTime: 0, staleTime: 0 });
  useEffect(() => {
    if (server.isSuccess && !wasJustReloaded()) location.reload();
  }, [server.isSuccess]);
  if (server.isPending) return <PageLayout title={errors.partMissing}>{null}</PageLayout>;
  if (server.isError)
    return (
      <PageLayout title={errors.partMissing}>
        <EmptyState
          title={commonMessages.serverUnreachable}
          action={
            <Button variant="default" onClick={() => void server.refetch()}>
              {commonMessages.tryAgain}
            </Button>
          }
        />
      </PageLayout>
    );
  return (
    <PageLayout title={errors.outdated}>
      <EmptyState
        title={errors.partMissing}
        action={<Button onClick={() => location.reload()}>{errors.reload}</Button>}
      >
        {errors.outdatedHint}
      </EmptyState>
    </PageLayout>
  );
}

/** Throws unless the server answers. */
async function checkServer(): Promise<boolean> {
  const { ok, status } = await fetch(location.href, { method: 'HEAD', cache: 'no-store' });
  if (!ok) throw new Error(String(status));
  return true;
}

/** Whether the document was reloaded within `RELOAD_INTERVAL`: another reload would not help. */
const wasJustReloaded = (): boolean =>
  performance.now() < RELOAD_INTERVAL &&
  performance
    .getEntriesByType('navigation')
    .some((entry) => (entry as PerformanceNavigationTiming).type === 'reload');
