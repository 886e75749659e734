import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AuditEvent } from '../../queries/client.ts';
import { objectNameQuery } from '../../queries/object-names.ts';
import classes from './audit.module.css';
import { type AuditObject, objectNameIn, auditObjectOf } from './audit-event-text.ts';
import { auditMessages } from './messages.ts';

/** Pages of the console by object type. */
const PAGE_PATHS: Readonly<Record<string, (id: string) => string>> = {
  vulnerability: (id) => `/vulnerabilities/${id}`,
  assessment: (id) => `/assessments/${id}`,
  asset: (id) => `/assets/${id}`,
  'assessment-group': (id) => `/groups/${id}`,
  user: (id) => `/people/${id}`,
  import: (id) => `/imports/${id}`,
};

/** The object of an event, with its name if known, linked to its page. */
export function AuditObjectLink({ event }: { event: AuditEvent }) {
  const object = auditObjectOf(event);
  const recordedName = objectNameIn(event);
  const { data } = useQuery({
    ...objectNameQuery(object.type, object.id ?? ''),
    ...(recordedName === undefined && object.id !== null ? {} : { enabled: false }),
  });
  const { type, id, isGone } = object;
  if (id === null) return typeText(type);
  const name = recordedName ?? data ?? id;
  const page = isGone ? undefined : PAGE_PATHS[type]?.(id);
  return (
    <span className={classes.object} title={`${event.object_type} ${event.object_id ?? ''}`}>
      <span>{objectTypeText(object)}</span>{' '}
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

/** The name of an object of a type, or its id while the name is unknown. */
export function ObjectName({ type, id }: { type: string; id: string }) {
  const { data } = useQuery(objectNameQuery(type, id));
  return <bdi>{data ?? id}</bdi>;
}

const typeText = (type: string) => type.replaceAll('-', ' ');

const objectTypeText = ({ type, partType }: AuditObject) =>
  partType === undefined ? typeText(type) : auditMessages.partOf(partType, typeText(type));
