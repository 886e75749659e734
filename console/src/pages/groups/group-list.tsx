import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { AssessmentGroup } from '../../queries/client.ts';
import { useGroups } from '../../queries/groups.ts';
import { useCurrentRow, useRowKeys } from '../../components/current-row.ts';
import { Empty, NoneMatch } from '../../components/empty-state.tsx';
import { NewButton } from '../../components/new-button.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { Found } from '../../components/result-count.tsx';
import { useOrganizationKind } from '../../components/organization-filter.ts';
import { Place } from '../../components/page.tsx';
import { RowsTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/table-column.ts';
import { Time } from '../../components/time.tsx';
import { whoAmI } from '../../session/current-user.ts';
import { GroupForm } from './group-form.tsx';
import { groupSearchOf } from './search.ts';
import { RowLink } from '../../components/row-link.tsx';

const COLUMNS: readonly Column<AssessmentGroup>[] = [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(120px, 2fr)',
    cell: ({ id, name }) => (
      <RowLink to={`/groups/${id}`} title={name}>
        {name}
      </RowLink>
    ),
  },
  {
    id: 'description',
    header: 'Description',
    width: 'minmax(100px, 3fr)',
    from: 700,
    cell: ({ description }) => <span title={description}>{description}</span>,
  },
  {
    id: 'members',
    header: 'Members',
    width: '80px',
    cell: ({ member_count }) => member_count.toLocaleString(),
  },
  {
    id: 'assessments',
    header: 'Assessments',
    width: '104px',
    from: 420,
    cell: ({ id, assessment_count }) => (
      <Anchor
        size="sm"
        renderRoot={(props) => <Link to="/assessments" search={{ assessment_group_id: id }} {...props} />}
      >
        {assessment_count.toLocaleString()}
      </Anchor>
    ),
  },
  {
    id: 'created',
    header: 'Created',
    width: '120px',
    from: 560,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

/** The assessment groups. */
export function GroupList() {
  const search = useSearch({ from: '/groups' });
  const navigate = useNavigate({ from: '/groups' });
  const list = useGroups(search);
  const kinds = useOrganizationKind();
  const { data: who } = useQuery(whoAmI);
  const isAdmin = who?.admin === true;
  const rows = useCurrentRow(list);
  const { current, setCurrent } = rows;
  const [creates, setCreates] = useState(false);
  const filter = (change: Record<string, unknown>) => {
    setCurrent(undefined);
    void navigate({ search: (now) => groupSearchOf({ ...now, ...change }), replace: true });
  };
  const open = ({ id }: AssessmentGroup) => void navigate({ to: '/groups/$id', params: { id: String(id) } });
  useRowKeys(rows, {
    noun: 'group',
    open: { run: open },
    others: isAdmin ? { n: { label: 'New group', run: () => setCreates(true) } } : {},
  });
  const create = isAdmin && <NewButton noun="group" onClick={() => setCreates(true)} />;
  return (
    <Place
      title="Groups"
      fills
      actions={
        <>
          <Found list={list} />
          {create}
        </>
      }
      tools={
        <FilterBar
          kinds={kinds}
          values={{ organization_uid: search.organization_uid ?? [] }}
          onChange={(name, next) => filter({ [name]: next.length === 0 ? undefined : next })}
          search={search.search}
          searchLabel="Search names"
          onSearch={(words) => filter({ search: words })}
        />
      }
    >
      <RowsTable
        label="Groups"
        list={list}
        columns={COLUMNS}
        rowId={({ id }) => String(id)}
        rowName={({ name }) => name}
        current={current}
        onCurrent={setCurrent}
        onOpen={open}
        empty={
          Object.keys(search).length > 0 ? (
            <NoneMatch onClear={() => void navigate({ search: {} })} />
          ) : (
            <Empty title="No groups yet" action={create}>
              {isAdmin
                ? 'A group holds assessments that belong together, and the people who plan and run them. Create the first one.'
                : 'You are a member of no group. An admin of your organization makes you one; until then there is nothing to do here.'}
            </Empty>
          )
        }
      />
      {creates && <GroupForm onClose={() => setCreates(false)} onSaved={open} />}
    </Place>
  );
}
