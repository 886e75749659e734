import { Button } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { EmptyState } from '../components/empty-state.tsx';
import { errorText } from '../components/notifications.tsx';
import { PageLayout } from '../components/page.tsx';
import { appMessages } from './messages.ts';
import { commonMessages } from '../components/messages.ts';

const { errors } = appMessages;

/** Error messages of browsers for a missing script or stylesheet, as after an update of the server. */
const CHUNK_LOAD_ERROR = /dynamically imported module|importing a module script|preload CSS/i;

export function NotFoundPage() {
  return (
    <PageLayout title={errors.notFound}>
      <EmptyState
        title={errors.noSuchPage}
        action={
          <Button variant="light" renderRoot={(props) => <Link to="/" {...props} />}>
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
  if (error instanceof Error && CHUNK_LOAD_ERROR.test(error.message))
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
