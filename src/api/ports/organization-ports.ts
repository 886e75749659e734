import { Type } from 'typebox';
import { API_SCOPE } from '../../auth/scopes.ts';
import type { Context } from '../../context.ts';
import { readOrganizationPorts } from '../../domain/assets/organization-ports.ts';
import { PORT_EVENT_KINDS, type PortEvent, readPortHistory } from '../../domain/assets/port-events.ts';
import { LISTED_PORT_STATES, PROTOCOLS } from '../../domain/assets/ports.ts';
import { formatTimestamp, parseTimestamp } from '../../domain/shared/time.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { Problem } from '../../http/problems.ts';
import { DateTimeSchema, MAX_TEXT, nullable, nullableTextSchema } from '../../http/schemas.ts';
import {
  DEFAULT_PER_PAGE,
  toPageEnvelope,
  PORTS_EXAMPLE_ASSET_UID,
  MAX_PER_PAGE,
  portPageParameters,
  pageEnvelopeSchema,
} from './page-envelope.ts';
import { PortsParamsSchema } from './ports.ts';

const access = { scopes: API_SCOPE, schemes: 'bearer' } as const;

const portNumberSchema = Type.Integer({
  minimum: 0,
  maximum: 65_535,
  description: 'A port number.',
  examples: [443],
});
const protocolSchema = Type.String({ enum: [...PROTOCOLS], maxLength: 8, examples: ['tcp'] });

const OrganizationPortsParamsSchema = Type.Object({
  org_uid: Type.String({
    maxLength: MAX_TEXT,
    description: 'The uid of the organization.',
    examples: ['acme'],
  }),
});

const OrganizationPortsQuerySchema = Type.Object({
  number: Type.Optional(portNumberSchema),
  service_name: Type.Optional(
    Type.String({
      maxLength: MAX_TEXT,
      description: 'The full name of a service, ignoring case.',
      examples: ['https'],
    }),
  ),
  product_name: Type.Optional(
    Type.String({
      maxLength: MAX_TEXT,
      description: 'The full name of a product, ignoring case.',
      examples: ['nginx'],
    }),
  ),
  observed_state: Type.Optional(Type.Enum(LISTED_PORT_STATES, { type: 'string', default: 'open' })),
  listing_uid: Type.Optional(
    Type.String({
      pattern: '^[-_0-9a-z]{1,50}$',
      maxLength: MAX_TEXT,
      description: 'Return only ports of hosts in this listing.',
      examples: ['acme-web-2026'],
    }),
  ),
  include: Type.Optional(
    Type.Enum(['assets'], { type: 'string', description: 'Include the hosts of each port, at most 100.' }),
  ),
  ...portPageParameters,
});

const OrganizationPortSchema = Type.Object(
  {
    number: portNumberSchema,
    protocol: protocolSchema,
    asset_count: Type.Integer({
      minimum: 1,
      description: 'The number of hosts with this port.',
      examples: [12],
    }),
    asset_uids: Type.Optional(
      Type.Array(Type.String({ maxLength: 24, examples: [PORTS_EXAMPLE_ASSET_UID] }), {
        maxItems: 100,
        description: 'Present only with `include=assets`.',
      }),
    ),
  },
  { title: 'Organization port' },
);

const listOrganizationPortsOperation = ({ addresses, db }: Context) =>
  operation({
    id: 'listOrganizationPorts',
    number: 80,
    summary: 'List ports of an organization',
    description:
      'Lists the open or closed ports of the hosts of an organization with the number of hosts that have each, ordered by that number descending, then by port number and protocol. Requires a user of the organization, or staff; only hosts whose ports the caller may read are counted.',
    method: 'GET',
    path: '/v1/:org_uid/assets/ports',
    access,
    params: OrganizationPortsParamsSchema,
    query: OrganizationPortsQuerySchema,
    responses: {
      200: {
        description: 'A page of ports.',
        schema: pageEnvelopeSchema(
          'Organization port list',
          'The uid of the organization.',
          Type.Object(
            { ports: Type.Array(OrganizationPortSchema, { maxItems: MAX_PER_PAGE }) },
            { title: 'Organization port list attributes' },
          ),
        ),
      },
    },
    async handler({ abortState, caller, params: { org_uid }, query, url }) {
      const { page = 1, per_page = DEFAULT_PER_PAGE } = query;
      const { ports, total } = await readOrganizationPorts(db.abortableRead(abortState), caller, org_uid, {
        state: query.observed_state ?? 'open',
        number: query.number,
        service: query.service_name,
        product: query.product_name,
        listing: query.listing_uid,
        withAssets: query.include === 'assets',
        limit: query.limit,
        page,
        perPage: per_page,
      });
      const attributes = {
        ports: ports.map(({ assetCount, assetUids, ...port }) => ({
          ...port,
          asset_count: assetCount,
          ...(assetUids === undefined ? {} : { asset_uids: assetUids }),
        })),
      };
      return toPageEnvelope(org_uid, attributes, {
        base: addresses.clientBaseUrl,
        url,
        total,
        page,
        per_page,
      });
    },
  });

const PortFactsSchema = Type.Object(
  {
    observed_state: Type.String({ maxLength: MAX_TEXT, examples: ['open'] }),
    service_name: nullableTextSchema('https'),
    service_banner: nullableTextSchema('nginx 1.24.0'),
    product_name: nullableTextSchema('nginx'),
    product_version: nullableTextSchema('1.24.0'),
    cpe: nullableTextSchema('cpe:/a:igor_sysoev:nginx:1.24.0'),
  },
  { title: 'Port facts' },
);

const PortEventSchema = Type.Object(
  {
    at: DateTimeSchema,
    number: portNumberSchema,
    protocol: protocolSchema,
    kind: Type.String({ enum: [...PORT_EVENT_KINDS], maxLength: 8, examples: ['opened'] }),
    before: Type.Union([PortFactsSchema, Type.Null()], { description: '`null` if nothing was known.' }),
    after: nullable(PortFactsSchema),
    import_id: nullable(Type.Integer({ examples: [7] })),
  },
  { title: 'Port event' },
);

const listPortHistoryOperation = ({ addresses, db }: Context) =>
  operation({
    id: 'listPortHistory',
    number: 81,
    summary: 'Get the port history of a host',
    description:
      'Lists the changes that scans found in the ports of a host, newest first: ports that opened or closed, and changes to their other properties. A port that is closed when first seen creates no event. Requires permission to read the ports of the host.',
    method: 'GET',
    path: '/v1/:org_uid/assets/:asset_uid/ports/history',
    access,
    params: PortsParamsSchema,
    query: Type.Object({
      since: Type.Optional(
        Type.String({
          format: 'date-time',
          maxLength: 64,
          description: 'Return only events that scans observed at or after this time.',
          examples: ['2026-11-21T10:30:00Z'],
        }),
      ),
      number: Type.Optional(portNumberSchema),
      ...portPageParameters,
    }),
    responses: {
      200: {
        description: 'A page of events.',
        schema: pageEnvelopeSchema(
          'Port history',
          'The uid of the asset.',
          Type.Object(
            { events: Type.Array(PortEventSchema, { maxItems: MAX_PER_PAGE }) },
            { title: 'Port history attributes' },
          ),
        ),
      },
    },
    async handler({ abortState, caller, params: { org_uid, asset_uid }, query, url }) {
      const { page = 1, per_page = DEFAULT_PER_PAGE } = query;
      const { events, total } = await readPortHistory(
        db.abortableRead(abortState),
        caller,
        org_uid,
        asset_uid,
        {
          since: query.since === undefined ? undefined : parseSince(query.since),
          number: query.number,
          limit: query.limit,
          page,
          perPage: per_page,
        },
      );
      const attributes = { events: events.map(toPortEventBody) };
      return toPageEnvelope(asset_uid, attributes, {
        base: addresses.clientBaseUrl,
        url,
        total,
        page,
        per_page,
      });
    },
  });

function parseSince(text: string): number {
  const moment = parseTimestamp(text);
  if (moment !== undefined) return moment;
  const message = 'must be a date and time, for example 2026-11-21T10:30:00Z';
  throw new Problem('invalid-request', `since ${message}.`, { source: 'since' });
}

function toPortEventBody({ at, importId, ...event }: PortEvent) {
  return { ...event, at: formatTimestamp(at), import_id: importId };
}

export default operationsOf('streaming', [listOrganizationPortsOperation, listPortHistoryOperation]);
