import { personName } from '../queries/people.ts';
import { RowLink } from './row-link.tsx';
import { StackedCell } from './stacked-cell.tsx';
import type { Column } from './table-column.ts';

interface Person {
  id: number;
  name?: string | null;
  email: string;
}

/** A column with names of people, linked to their pages; in a narrow table also their email addresses. */
export function personNameColumn(width: string): Column<Person> {
  const link = (person: Person) => (
    <RowLink to={`/people/${person.id}`} title={personName(person)}>
      {personName(person)}
    </RowLink>
  );
  return {
    id: 'name',
    header: 'Name',
    width,
    cell: link,
    narrow: {
      cell: (person) => <StackedCell secondary={<bdi>{person.email}</bdi>}>{link(person)}</StackedCell>,
    },
  };
}
