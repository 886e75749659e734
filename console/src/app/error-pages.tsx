import { Button } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { Empty } from '../components/empty-state.tsx';
import { errorText } from '../components/notifications.tsx';
import { Place } from '../components/page.tsx';

/** What browsers say of a part of the console that is not there any more. */
const GONE = /dynamically imported module|importing a module script|preload CSS/i;

/** At an address that is none. */
export function NothingHere() {
  return (
    <Place title="Nothing is here">
      <Empty
        title="Nothing has this address"
        action={
          <Button variant="light" renderRoot={(props) => <Link to="/" {...props} />}>
            Go to Home
          </Button>
        }
      >
        It may be mistyped, or what it named is gone.
      </Empty>
    </Place>
  );
}

/** In the place of one that could not be shown; the others go on. */
export function PlaceFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  if (error instanceof Error && GONE.test(error.message))
    return (
      <Place title="Load the console anew">
        <Empty
          title="This part of the console was not found"
          action={<Button onClick={() => location.reload()}>Load it anew</Button>}
        >
          The server was probably updated since this page was opened, or cannot be reached.
        </Empty>
      </Place>
    );
  return (
    <Place title="This could not be shown">
      <Empty
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
    </Place>
  );
}
