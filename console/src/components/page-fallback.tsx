import { Button, Loader } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { AssayError } from '../queries/client.ts';
import { EmptyState } from './empty-state.tsx';
import { commonMessages } from './messages.ts';
import { errorText } from './notifications.ts';
import { pageFallbackMessages } from './page-fallback-messages.ts';
import { PageLayout } from './page.tsx';

const messages = pageFallbackMessages;

interface PageFallbackProps {
  /** Noun of the object: "asset". */
  noun: string;
  /** The path of its list. */
  list: '/vulnerabilities' | '/assets' | '/assessments' | '/groups' | '/people' | '/imports';
  /** Why the object could not be loaded; `null` while it is being loaded. */
  error: Error | null;
  refetch: () => unknown;
  /** Whether no object can have the id of the address. */
  isInvalid?: boolean;
}

/** Shown in place of the page of an object that is not loaded. */
export function PageFallback({ noun, list, error, refetch, isInvalid = false }: PageFallbackProps) {
  const isMissing = isInvalid || (error instanceof AssayError && [400, 404].includes(error.status));
  const title = noun.charAt(0).toUpperCase() + noun.slice(1);
  if (isMissing)
    return (
      <PageLayout title={messages.title(title)}>
        <EmptyState
          title={messages.heading(noun)}
          action={
            <Button variant="default" renderRoot={(props) => <Link to={list} {...props} />}>
              {messages.all(list.slice(1))}
            </Button>
          }
        >
          {messages.hint}
        </EmptyState>
      </PageLayout>
    );
  return (
    <PageLayout title={title}>
      {error === null ? (
        <Loader size="sm" aria-label="Loading" />
      ) : (
        <EmptyState
          title={messages.failed(noun)}
          action={
            <Button variant="default" onClick={() => void refetch()}>
              {commonMessages.tryAgain}
            </Button>
          }
        >
          {errorText(error)}
        </EmptyState>
      )}
    </PageLayout>
  );
}
