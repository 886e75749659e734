import { personName } from '../queries/people.ts';
import { RowLink } from './row-link.tsx';

/** The name of a person in a row, linked to their page. */
export function PersonLink({ person }: { person: Parameters<typeof personName>[0] & { id: number } }) {
  const name = personName(person);
  return (
    <RowLink to={`/people/${person.id}`} title={name}>
      {name}
    </RowLink>
  );
}
