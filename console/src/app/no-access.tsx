import { useQuery } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { organizations } from '../queries/organizations.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { PageLayout } from '../components/page.tsx';
import { currentUser } from '../session/current-user.ts';

/** What a place says to who has access to no assessment, in place of lists and buttons that are of no use to them. */
export function NoAccess({ title }: { title: string }) {
  const { data: all } = useQuery(organizations);
  // Somebody may have given access meanwhile: who comes back to the window finds it.
  const { data: who, isFetching, refetch } = useQuery({ ...currentUser, staleTime: 0 });
  const organization = all?.[0]?.name ?? 'your organization';
  return (
    <PageLayout title={title}>
      <EmptyState
        title="You have access to no assessment yet"
        action={
          <Button variant="light" loading={isFetching} onClick={() => void refetch()}>
            Look again
          </Button>
        }
      >
        Ask an admin of {organization} to give {who?.email ?? 'you'} access to the assessments that you work
        on. Then you find here what was found in them, their assets and their imports.
      </EmptyState>
    </PageLayout>
  );
}
