import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AuditEvent } from '../../queries/client.ts';
import { objectName } from '../../queries/audit-object-names.ts';
import classes from './audit.module.css';
import { type EventObject, nameIn, objectOf } from './audit-event-text.ts';

/** Where the console has a page of an object. */
const PAGES: Readonly<Record<string, (id: string) => string>> = {
  vulnerability: (id) => `/vulnerabilities/${id}`,
  assessment: (id) => `/assessments/${id}`,
  asset: (id) => `/assets/${id}`,
  'assessment-group': (id) => `/groups/${id}`,
  user: (id) => `/people/${id}`,
  import: (id) => `/imports/${id}`,
};

/** What an event was done to, by its name where that is known, and the way to it. */
export function ObjectOfEvent({ event }: { event: AuditEvent }) {
  const object = objectOf(event);
  const told = nameIn(event);
  const { data } = useQuery({
    ...objectName(object.type, object.id ?? ''),
    ...(told === undefined && object.id !== null ? {} : { enabled: false }),
  });
  const { type, id, isGone } = object;
  if (id === null) return type.replaceAll('-', ' ');
  const name = told ?? data ?? id;
  const page = isGone ? undefined : PAGES[type]?.(id);
  return (
    <span className={classes.object} title={`${event.object_type} ${event.object_id ?? ''}`}>
      <span>{wordsOf(object)}</span>{' '}
      {page === undefined ? (
        <span>{name}</span>
      ) : (
        <Anchor component={Link} to={page} size="sm">
          {name}
        </Anchor>
      )}
    </span>
  );
}

const wordsOf = ({ type, of }: EventObject) =>
  `${of === undefined ? '' : `${of} of `}${type.replaceAll('-', ' ')}`;
