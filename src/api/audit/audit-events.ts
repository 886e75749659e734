import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { ACTIONS, OBJECT_TYPES } from '../../domain/audit/actions.ts';
import { type AuditEvent, auditEventList, requireAuditAccess } from '../../domain/audit/audit-event-list.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { listOperation } from '../../http/lists/list-operation.ts';
import { operationsOf } from '../../http/operation.ts';
import { DateTimeSchema, emailSchema, nullable, nullableTextSchema } from '../../http/schemas.ts';
import { V1_ACCESS } from '../v1-params.ts';

/** A snapshot of the properties of an object of any type. */
const snapshotSchema = (description: string, example: object | null) =>
  Type.Unsafe<unknown>({
    type: ['object', 'null'],
    additionalProperties: true,
    description,
    examples: [example],
  });

const AuditEventSchema = Type.Object(
  {
    id: Type.Integer(),
    at: DateTimeSchema,
    action: Type.Unsafe<string>({ type: 'string', enum: ACTIONS.toSorted(), examples: ['user.rename'] }),
    object_type: Type.String({ enum: OBJECT_TYPES.toSorted(), maxLength: 64, examples: ['user'] }),
    object_id: nullableTextSchema('4'),
    organization_uid: nullableTextSchema('acme'),
    actor: Type.Object(
      {
        kind: Type.Enum(['user', 'client', 'command_line', 'system', 'stranger'], { type: 'string' }),
        user_id: Type.Unsafe<number | null>({ type: ['integer', 'null'], examples: [2] }),
        email: nullable(emailSchema('admin@acme.example')),
      },
      { title: 'Actor' },
    ),
    credential_id: nullableTextSchema('0f6e8a2c-5f0e-4d6f-9a53-1f2b7c6d8e90'),
    address: nullableTextSchema('192.0.2.7'),
    request_id: nullableTextSchema('8e03978e-40d5-43dd-bc93-6894a57f9324'),
    before: snapshotSchema('The state before the change; `null` if the object did not exist.', {
      name: 'Ada',
    }),
    after: snapshotSchema('The state after the change; `null` if the object no longer exists.', {
      name: 'Ada Lovelace',
    }),
  },
  { title: 'Audit event' },
);

const ACTOR_KINDS = AuditEventSchema.properties.actor.properties.kind.enum;

function toAuditEventBody(event: AuditEvent) {
  const { id, at, action, objectType, objectId, organizationUid, actorKind, userId, email } = event;
  return {
    id,
    at: formatTimestamp(at),
    action,
    object_type: objectType,
    object_id: objectId,
    organization_uid: organizationUid,
    actor: {
      kind: ACTOR_KINDS.find((kind) => kind === actorKind) ?? 'system',
      user_id: userId,
      email,
    },
    credential_id: event.credentialId,
    address: event.address,
    request_id: event.requestId,
    before: event.before,
    after: event.after,
  };
}

const listAuditEventsOperation = (context: Context) =>
  listOperation(context, {
    id: 'listAuditEvents',
    number: 60,
    summary: 'List audit events',
    description:
      'Lists changes with who made them and from which address, newest first; a download is oldest first. Admins get the events of their organization, staff those of the organizations they can access. Only staff who are not assigned to particular organizations get events without an organization and those of unauthenticated requests; only staff get events about internal comments.',
    path: '/audit_events',
    access: V1_ACCESS,
    style: 'v1',
    cursorOnly: true,
    list: auditEventList,
    filters: {
      action: 'Return only events with one of these actions, for example `user.ban`.',
      objectType: {
        parameter: 'filter[object_type]',
        description: 'Return only events about objects of these types.',
      },
      objectId: {
        parameter: 'filter[object_id]',
        description: 'Return only events about the object with this id or uid.',
      },
      userId: { parameter: 'filter[user_id]', description: 'Return only events caused by this user.' },
      requestId: { parameter: 'filter[request_id]', description: 'Return only events of this request.' },
      since: 'Return only events at or after this time.',
      until: 'Return only events before this time.',
    },
    defaultSort: { sort: 'at', descending: true },
    scope({ caller }) {
      requireAuditAccess(caller);
      return {};
    },
    schema: AuditEventSchema,
    toRow: toAuditEventBody,
    download: { action: 'event.export', filename: 'audit-events', sort: { sort: 'at' } },
  });

export default operationsOf('v1', [listAuditEventsOperation]);
