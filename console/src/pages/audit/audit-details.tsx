import { Button, Group, Stack, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AuditEvent } from '../../queries/client.ts';
import { OrganizationName } from '../../components/identity-marks.tsx';
import type { AuditSearchChange } from '../../app/search-params.ts';
import classes from './audit.module.css';
import { AuditObjectLink, ObjectName } from './audit-sentence.tsx';
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { actorText, auditObjectOf, changedMembers, type MemberValue } from './audit-event-text.ts';
import { auditMessages } from './messages.ts';

interface AuditDetailsProps {
  event: AuditEvent;
  onFilter: (change: AuditSearchChange) => void;
}

/** An audit event: actor, origin, and the values before and after. */
export function AuditDetails({ event, onFilter }: AuditDetailsProps) {
  const { object_type, object_id, actor, request_id } = event;
  const changes = changedMembers(event);
  const facts: [string, ReactNode][] = [
    ['By', actorText(actor)],
    ['Object', <AuditObjectLink key="object" object={auditObjectOf(event)} />],
    [
      'Organization',
      event.organization_uid && <OrganizationName key="organization" uid={event.organization_uid} />,
    ],
    ['Credential', event.credential_id],
    ['Request', request_id],
  ];
  return (
    <Stack className={classes.details}>
      <DescriptionList>
        <DescriptionItem name="Action">{event.action}</DescriptionItem>
        {facts
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <DescriptionItem key={name} name={name}>
              {value}
            </DescriptionItem>
          ))}
      </DescriptionList>
      <Group gap="xs">
        {object_id !== null && (
          <Button size="xs" variant="default" onClick={() => onFilter({ object_type, object_id })}>
            {auditMessages.sameObject}
          </Button>
        )}
        {request_id !== null && (
          <Button size="xs" variant="default" onClick={() => onFilter({ request_id })}>
            {auditMessages.sameRequest}
          </Button>
        )}
        {actor.user_id !== null && (
          <Button
            size="xs"
            variant="default"
            onClick={() => onFilter({ user_id: actor.user_id ?? undefined })}
          >
            {auditMessages.sameUser}
          </Button>
        )}
      </Group>
      {changes.length === 0 ? (
        <DimmedText>{auditMessages.noChanges}</DimmedText>
      ) : (
        <Table layout="fixed" className={classes.changes} aria-label={auditMessages.changes}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w="26%">Field</Table.Th>
              {event.before !== null && <Table.Th>Before</Table.Th>}
              {event.after !== null && <Table.Th>After</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changes.map(({ name, before, after }) => (
              <Table.Tr key={name}>
                <Table.Th scope="row">{name}</Table.Th>
                {event.before !== null && (
                  <Table.Td>
                    <Value of={before} />
                  </Table.Td>
                )}
                {event.after !== null && (
                  <Table.Td>
                    <Value of={after} />
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}

/** The names that are read for one value; the objects after them show their ids. */
const MAX_NAMES = 20;

/** A value, with the names of the objects that it refers to, one per line. */
function Value({ of: value }: { of: MemberValue }) {
  if (typeof value !== 'object') return value;
  return value.items.map(({ id, detail }, index) => (
    <div key={id} title={id}>
      {index < MAX_NAMES ? <ObjectName type={value.type} id={id} /> : id}
      {detail === '' ? null : ` ${detail}`}
    </div>
  ));
}
