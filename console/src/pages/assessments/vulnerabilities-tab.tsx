import { Anchor, Group } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useVulnerabilities } from '../../queries/vulnerabilities.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { VULNERABILITY_TABLE_COLUMNS } from '../vulnerabilities/columns.tsx';
import { assessmentMessages as messages } from './messages.ts';
import classes from './assessment-page.module.css';

const TAB_COLUMNS = VULNERABILITY_TABLE_COLUMNS.filter(({ id }) => id !== 'assessment');

/** The vulnerabilities of an assessment. */
export function VulnerabilitiesTab({ uid }: { uid: string }) {
  const [sort, setSort] = useState('-severity');
  const list = useVulnerabilities({ assessment_id: [uid], sort });
  const navigate = useNavigate();
  const [current, setCurrent] = useState<number>();
  return (
    <>
      <Group justify="flex-end" mb="xs">
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/vulnerabilities" search={{ assessment_id: [uid] }} {...props} />}
        >
          {messages.openInList}
        </Anchor>
      </Group>
      <div className={classes.table}>
        <DataTable
          label={messages.vulnerabilitiesLabel}
          list={list}
          columns={TAB_COLUMNS}
          rowId={({ id }) => String(id)}
          rowName={({ title }) => title}
          current={current}
          onCurrent={setCurrent}
          onOpen={({ id }) =>
            void navigate({ to: '/vulnerabilities', search: { assessment_id: [uid], open: id } })
          }
          sort={sort}
          onSort={setSort}
          empty={<EmptyState title={messages.noVulnerabilities}>{messages.noVulnerabilitiesHint}</EmptyState>}
        />
      </div>
    </>
  );
}
