import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { omitUndefined } from '../../app/search-params.ts';
import { EmptyState, NoResults } from '../../components/empty-state.tsx';
import { type VulnerabilitySearch, vulnerabilityTotalQuery } from '../../queries/vulnerabilities.ts';
import { useCanImport } from '../../session/permissions.ts';
import { tabOf } from './list-tabs.tsx';
import { vulnerabilityListMessages as messages } from './messages.ts';

/** The parameters that are not filters. */
const NOT_FILTERS = ['sort', 'phase', 'draft'];

/** Says why a list is empty, and what to do next. */
export function EmptyList({ search }: { search: VulnerabilitySearch }) {
  const navigate = useNavigate({ from: '/vulnerabilities' });
  const { data: total } = useQuery(vulnerabilityTotalQuery({}));
  const canImport = useCanImport();
  const tab = tabOf(search);
  if (Object.keys(search).some((name) => !NOT_FILTERS.includes(name)))
    return (
      <NoResults
        title={messages.noMatches[tab]}
        onClear={() => void navigate({ search: ({ phase, draft }) => omitUndefined({ phase, draft }) })}
      />
    );
  if (total === undefined) return null;
  if (tab === 'closed' || tab === 'drafts') return <EmptyState title={messages.nothingIn[tab]} />;
  if (total > 0)
    return (
      <EmptyState
        title={messages.nothingIn.open}
        action={
          <Button variant="default" onClick={() => void navigate({ search: { phase: ['closed'] } })}>
            {messages.showClosed}
          </Button>
        }
      >
        {messages.allClosed(total)}
      </EmptyState>
    );
  return (
    <EmptyState
      title={messages.emptyTitle}
      action={
        canImport && (
          <Button component={Link} to="/imports">
            {messages.importReport}
          </Button>
        )
      }
    >
      {canImport ? messages.emptyHint : messages.emptyHintReadOnly}
    </EmptyState>
  );
}
