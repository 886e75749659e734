import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AuditEvent } from '../../queries/client.ts';
import { fillSentence } from '../../components/fill-sentence.ts';
import { ROLE_LABELS } from '../../queries/assessments.ts';
import { objectNameQuery } from '../../queries/object-names.ts';
import { statusName } from '../../queries/statuses.ts';
import {
  actorText,
  type AuditObject,
  auditObjectOf,
  recordedValues,
  sentenceOf,
} from './audit-event-text.ts';
import classes from './audit.module.css';
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

/** The sentence of an event, with a link to its object. The tooltip is the code of the action. */
export function AuditSentence({ event }: { event: AuditEvent }) {
  const { user, assessment, role, status, status_id } = recordedValues(event);
  return (
    <div className={classes.sentence} title={event.action}>
      {fillSentence(sentenceOf(event) as string, {
        actor: <Actor actor={event.actor} />,
        object: <AuditObjectLink object={auditObjectOf(event)} />,
        user: <Reference type="user" id={user} />,
        assessment: <Reference type="assessment" id={assessment} />,
        role: ROLE_LABELS[role as keyof typeof ROLE_LABELS],
        status: typeof status_id === 'number' ? statusName(status_id) : String(status),
      })}
    </div>
  );
}

/** The name of the actor, or the address if the reader cannot read the name. */
function Actor({ actor }: Pick<AuditEvent, 'actor'>) {
  const id = String(actor.user_id);
  const { data } = useQuery({ ...objectNameQuery('actor', id), enabled: actor.user_id !== null });
  return (
    <b title={actor.email ?? undefined}>
      <bdi>{data ?? actorText(actor)}</bdi>
    </b>
  );
}

function Reference({ type, id }: { type: string; id: unknown }) {
  if (typeof id !== 'string' && typeof id !== 'number') return auditMessages.someone;
  return <AuditObjectLink object={{ type, id: String(id), name: undefined, isGone: type === 'user' }} />;
}

/** The name of an object, linked to its page. */
export function AuditObjectLink({ object: { type, id, name, isGone } }: { object: AuditObject }) {
  const query = objectNameQuery(type, id ?? '');
  const { data } = useQuery(name === undefined && id !== null ? query : { ...query, enabled: false });
  if (id === null) return auditMessages.unnamed(type.replaceAll('-', ' '));
  const page = isGone ? undefined : PAGE_PATHS[type]?.(id);
  const text = (
    <bdi>
      {type === 'vulnerability' && `#${id} `}
      {name ?? data ?? (type === 'vulnerability' ? '' : id)}
    </bdi>
  );
  return page === undefined ? (
    text
  ) : (
    <Anchor component={Link} to={page} inherit>
      {text}
    </Anchor>
  );
}

/** The name of an object of a type, or its id while the name is unknown. */
export function ObjectName({ type, id }: { type: string; id: string }) {
  const { data } = useQuery(objectNameQuery(type, id));
  return <bdi>{data ?? id}</bdi>;
}
