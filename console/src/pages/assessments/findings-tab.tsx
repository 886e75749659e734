import { Anchor, Group } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import type { VersionedAssessment } from '../../queries/assessments.ts';
import { useVulnerabilities } from '../../queries/vulnerabilities.ts';
import { useVulnerabilityTable } from '../vulnerabilities/columns.tsx';
import { ListTabs, searchOfTab, tabOf } from '../vulnerabilities/list-tabs.tsx';
import { vulnerabilityListMessages } from '../vulnerabilities/messages.ts';
import classes from './assessment-page.module.css';
import { assessmentMessages as messages } from './messages.ts';

/** The findings of an assessment. */
export function FindingsTab({ assessment }: { assessment: VersionedAssessment }) {
  const { uid, vulnerability_count: count, permissions } = assessment;
  const { show: _, ...tabFilter } = useSearch({ from: '/assessments/$uid' });
  const [sort, setSort] = useState('-severity');
  const filter = { assessment_id: [uid], ...tabFilter };
  const tab = tabOf(filter);
  const table = useVulnerabilityTable({ isOfOneAssessment: true });
  const list = useVulnerabilities({ ...searchOfTab(filter), sort });
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
