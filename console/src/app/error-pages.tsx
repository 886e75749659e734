import { Button } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { EmptyState } from '../components/empty-state.tsx';
import { errorText } from '../components/notifications.tsx';
import { PageLayout } from '../components/page.tsx';

/** What browsers say of a part of the console that is not there any more. */
const CHUNK_LOAD_ERROR = /dynamically imported module|importing a module script|preload CSS/i;

/** At an address that is none. */
export function NotFoundPage() {
  return (
    <PageLayout title="Nothing is here">
      <EmptyState
        title="Nothing has this address"
        action={
          <Button variant="light" renderRoot={(props) => <Link to="/" {...props} />}>
            Go to Home
          </Button>
        }
      >
        It may be mistyped, or what it named is gone.
      </EmptyState>
    </PageLayout>
  );
}

/** In the place of one that could not be shown; the others go on. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  if (error instanceof Error && CHUNK_LOAD_ERROR.test(error.message))
    return (
      <PageLayout title="Load the console anew">
        <EmptyState
          title="This part of the console was not found"
          action={<Button onClick={() => location.reload()}>Load it anew</Button>}
        >
          The server was probably updated since this page was opened, or cannot be reached.
        </EmptyState>
      </PageLayout>
    );
  return (
    <PageLayout title="This could not be shown">
      <EmptyState
        title={errorText(error)}
        action={
          <Button
            onClick={() => {
              reset();
              void router.invalidate();
            }}
          >
            Try again
          </Button>
        }
      />
    </PageLayout>
  );
}
