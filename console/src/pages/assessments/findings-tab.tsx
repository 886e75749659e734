import { Anchor, Group } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import type { VersionedAssessment } from '../../queries/assessments.ts';
import { useVulnerabilityTable } from '../vulnerabilities/columns.tsx';
import { useGroupedRows } from '../vulnerabilities/grouped-rows.tsx';
import { ListTabs, searchOfTab, tabOf } from '../vulnerabilities/list-tabs.tsx';
import { DEFAULT_GROUPING, DEFAULT_SORT } from '../vulnerabilities/list-toolbar.tsx';
import { vulnerabilityListMessages } from '../vulnerabilities/messages.ts';
import classes from './assessment-page.module.css';
import { assessmentMessages as messages } from './messages.ts';

/** The findings of an assessment. */
export function FindingsTab({ assessment }: { assessment: VersionedAssessment }) {
  const { uid, vulnerability_count: count, permissions } = assessment;
  const address = useSearch({ from: '/assessments/$uid' });
  const [sort, setSort] = useState(DEFAULT_SORT);
  const { filter, search } = useMemo(() => {
    const { show: _, ...ofTab } = address;
    const assessmentFilter = { assessment_id: [uid], ...ofTab };
    return { filter: assessmentFilter, search: { ...searchOfTab(assessmentFilter), sort } };
  }, [uid, address, sort]);
  const tab = tabOf(filter);
  const { list, groups, matches } = useGroupedRows(search, DEFAULT_GROUPING);
  const table = useVulnerabilityTable({ isOfOneAssessment: true, matches });
  const navigate = useNavigate();
  const [current, setCurrent] = useState<number>();
  return (
    <>
      <Group className={classes.bar}>
        <ListTabs search={filter} />
        <Anchor
          size="sm"
          ml="auto"
          renderRoot={(props) => <Link to="/vulnerabilities" search={filter} {...props} />}
        >
          {messages.openInList}
        </Anchor>
      </Group>
      <div className={classes.table}>
        <DataTable
          label={messages.vulnerabilitiesLabel}
          list={list}
          {...table}
          groups={groups}
          rowId={({ id }) => String(id)}
          rowName={({ title }) => title}
          current={current}
          onCurrent={setCurrent}
          onOpen={({ id }) => void navigate({ to: '/vulnerabilities', search: { ...filter, open: id } })}
          sort={sort}
          onSort={setSort}
          empty={
            count === 0 ? (
              <EmptyState title={messages.noFindings}>
                {permissions?.report === true && messages.noFindingsHint}
              </EmptyState>
            ) : (
              <EmptyState title={vulnerabilityListMessages.nothingIn[tab]} />
            )
          }
        />
      </div>
    </>
  );
}
