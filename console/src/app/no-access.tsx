import { useQuery } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { organizations } from '../queries/organizations.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { PageLayout } from '../components/page.tsx';
import { currentUser } from '../session/current-user.ts';
import { appMessages } from './messages.ts';

const { noAccess } = appMessages;

/** Shown in place of pages that are empty for users without access to any assessment. */
export function NoAccess({ title }: { title: string }) {
  const { data: all } = useQuery(organizations);
  // Refetched on focus: an admin may have given access meanwhile.
  const { data: who, isFetching, refetch } = useQuery({ ...currentUser, staleTime: 0 });
  const organization = all?.[0]?.name ?? noAccess.organization;
  return (
    <PageLayout title={title}>
      <EmptyState
        title={noAccess.title}
        action={
          <Button variant="light" loading={isFetching} onClick={() => void refetch()}>
            {noAccess.checkAgain}
          </Button>
        }
      >
        {noAccess.hint(organization, who?.email ?? noAccess.you)}
      </EmptyState>
    </PageLayout>
  );
}
