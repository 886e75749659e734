import { Type } from 'typebox';
import { API_SCOPE } from '../../auth/scopes.ts';
import type { Context } from '../../runtime/context.ts';
import { readOrganizationPorts } from '../../domain/assets/organization-ports.ts';
import { PORT_EVENT_KINDS, type PortEvent, readPortHistory } from '../../domain/assets/port-events.ts';
import { LISTED_STATES, PROTOCOLS } from '../../domain/assets/ports.ts';
import { isoTime, momentOf } from '../../domain/shared/time.ts';
import { operation } from '../../http/operation.ts';
import { Problem } from '../../http/problems.ts';
import { DateTime, MAX_TEXT, orNull, unknownText } from '../../http/schemas.ts';
import {
  DEFAULT_PER_PAGE,
  envelopeOf,
  EXAMPLE_ASSET,
  MAX_PER_PAGE,
  pageParameters,
  portEnvelope,
} from './page-envelope.ts';
import { PortsPath } from './ports.ts';

const access = { scopes: API_SCOPE, schemes: 'bearer' } as const;

const number = Type.Integer({
  minimum: 0,
  maximum: 65_535,
  description: 'The number of a port.',
  examples: [443],
});
const protocol = Type.String({ enum: [...PROTOCOLS], maxLength: 8, examples: ['tcp'] });

const OrganizationPath = Type.Object({
  org_uid: Type.String({ maxLength: MAX_TEXT, description: 'The organization.', examples: ['acme'] }),
});

const OrganizationPortsQuery = Type.Object({
  number: Type.Optional(number),
  service_name: Type.Optional(
    Type.String({ maxLength: MAX_TEXT, description: 'Whole, without regard to case.', examples: ['https'] }),
  ),
  product_name: Type.Optional(
    Type.String({ maxLength: MAX_TEXT, description: 'Whole, without regard to case.', examples: ['nginx'] }),
  ),
  observed_state: Type.Optional(Type.Enum(LISTED_STATES, { type: 'string', default: 'open' })),
  listing_uid: Type.Optional(
    Type.String({
      pattern: '^[-_0-9a-z]{1,50}$',
      maxLength: MAX_TEXT,
      description: 'Of the hosts in this listing.',
      examples: ['acme-web-2026'],
    }),
  ),
  include: Type.Optional(
    Type.Enum(['assets'], { type: 'string', description: 'The hosts that have each, at most 100.' }),
  ),
  ...pageParameters,
});

const OrganizationPort = Type.Object(
  {
    number,
    protocol,
    asset_count: Type.Integer({ minimum: 1, description: 'How many hosts have it.', examples: [12] }),
    asset_uids: Type.Optional(
      Type.Array(Type.String({ maxLength: 24, examples: [EXAMPLE_ASSET] }), {
        maxItems: 100,
        description: 'With include=assets alone.',
      }),
    ),
  },
  { title: 'Organization port' },
);

const declareListOrganizationPorts = ({ addresses, db }: Context) =>
  operation({
    id: 'listOrganizationPorts',
    number: 80,
    summary: 'List ports of an organization',
    description:
      'The open or the closed ports of the hosts of an organization, with the number of hosts that have each; most hosts first, then by number and protocol. For its users and for staff, of the hosts whose ports they may read.',
    method: 'GET',
    path: '/v1/:org_uid/assets/ports',
    access,
    params: OrganizationPath,
    query: OrganizationPortsQuery,
    answers: {
      200: {
        description: 'A page of the ports.',
        schema: portEnvelope(
          'Organization port list',
          'The uid of the organization.',
          Type.Object(
            { ports: Type.Array(OrganizationPort, { maxItems: MAX_PER_PAGE }) },
            { title: 'Organization port list attributes' },
          ),
        ),
      },
    },
    async handler({ caller, params: { org_uid }, query, url }) {
      const { page = 1, per_page = DEFAULT_PER_PAGE } = query;
      const { ports, total } = await readOrganizationPorts(db.readLong, caller, org_uid, {
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
      return envelopeOf(org_uid, attributes, { base: addresses.clientBaseUrl, url, total, page, per_page });
    },
  });

const Facts = Type.Object(
  {
    observed_state: Type.String({ maxLength: MAX_TEXT, examples: ['open'] }),
    service_name: unknownText('https'),
    service_banner: unknownText('nginx 1.24.0'),
    product_name: unknownText('nginx'),
    product_version: unknownText('1.24.0'),
    cpe: unknownText('cpe:/a:igor_sysoev:nginx:1.24.0'),
  },
  { title: 'Port facts' },
);

const PortEventBody = Type.Object(
  {
    at: DateTime,
    number,
    protocol,
    kind: Type.String({ enum: [...PORT_EVENT_KINDS], maxLength: 8, examples: ['opened'] }),
    before: Type.Union([Facts, Type.Null()], { description: 'null where nothing was known.' }),
    after: Type.Union([Facts, Type.Null()]),
    import_id: orNull(Type.Integer({ examples: [7] })),
  },
  { title: 'Port event' },
);

const declareListPortHistory = ({ addresses, db }: Context) =>
  operation({
    id: 'listPortHistory',
    number: 81,
    summary: 'Get the history of the ports of a host',
    description:
      'What scans found out of the ports of a host, newest first: which were opened or closed, and of which anything else changed. A port that is first seen closed makes no event. For those who may read its ports.',
    method: 'GET',
    path: '/v1/:org_uid/assets/:asset_uid/ports/history',
    access,
    params: PortsPath,
    query: Type.Object({
      since: Type.Optional(
        Type.String({
          format: 'date-time',
          maxLength: 64,
          description: 'What scans saw at this moment or later.',
          examples: ['2026-11-21T10:30:00Z'],
        }),
      ),
      number: Type.Optional(number),
      ...pageParameters,
    }),
    answers: {
      200: {
        description: 'A page of the events.',
        schema: portEnvelope(
          'Port history',
          'The uid of the asset.',
          Type.Object(
            { events: Type.Array(PortEventBody, { maxItems: MAX_PER_PAGE }) },
            { title: 'Port history attributes' },
          ),
        ),
      },
    },
    async handler({ caller, params: { org_uid, asset_uid }, query, url }) {
      const { page = 1, per_page = DEFAULT_PER_PAGE } = query;
      const { events, total } = await readPortHistory(db.readLong, caller, org_uid, asset_uid, {
        since: query.since === undefined ? undefined : readSince(query.since),
        number: query.number,
        limit: query.limit,
        page,
        perPage: per_page,
      });
      const attributes = { events: events.map(eventBody) };
      return envelopeOf(asset_uid, attributes, { base: addresses.clientBaseUrl, url, total, page, per_page });
    },
  });

function readSince(text: string): number {
  const moment = momentOf(text);
  if (moment !== undefined) return moment;
  const message = 'must be a date and time such as 2026-11-21T10:30:00Z';
  throw new Problem('invalid-request', `since ${message}.`, { source: 'since' });
}

function eventBody({ at, importId, ...event }: PortEvent) {
  return { ...event, at: isoTime(at), import_id: importId };
}

export const PORT_SUMMARY_OPERATIONS = [declareListOrganizationPorts, declareListPortHistory];
