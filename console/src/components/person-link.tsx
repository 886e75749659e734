import { personName } from '../queries/people.ts';
import { RowLink } from './row-link.tsx';

/** Somebody's name in a row, which leads to them. */
export function PersonLink({ person }: { person: Parameters<typeof personName>[0] & { id: number } }) {
  const name = personName(person);
  return (
    <RowLink to={`/people/${person.id}`} title={name}>
      {name}
    </RowLink>
  );
}
