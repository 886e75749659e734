import { Type } from 'typebox';
import { API_SCOPE } from '../../auth/scopes.ts';
import type { Context } from '../../runtime/context.ts';
import { LISTED_STATES, type Port, PORT_ORDERS, PROTOCOLS, readPorts } from '../../domain/assets/ports.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { operation } from '../../http/operation.ts';
import { DateTime, MAX_TEXT, unknownText } from '../../http/schemas.ts';
import {
  DEFAULT_PER_PAGE,
  envelopeOf,
  EXAMPLE_ASSET,
  MAX_PER_PAGE,
  pageParameters,
  portEnvelope,
} from './page-envelope.ts';

/** What does not look like a uid is one that no row has: 404, and not 400. */
export const PortsPath = Type.Object({
  org_uid: Type.String({
    maxLength: MAX_TEXT,
    description: 'The organization that the asset belongs to.',
    examples: ['acme'],
  }),
  asset_uid: Type.String({ maxLength: MAX_TEXT, description: 'The asset.', examples: [EXAMPLE_ASSET] }),
});

const PortsQuery = Type.Object({
  observed_state: Type.Optional(Type.Enum(LISTED_STATES, { type: 'string', default: 'open' })),
  order_by: Type.Optional(
    Type.Enum(PORT_ORDERS, {
      type: 'string',
      default: 'number',
      description: 'Ties are broken by number and protocol, ascending; what is unknown comes last.',
    }),
  ),
  order_direction: Type.Optional(Type.Enum(['ASC', 'DESC'], { type: 'string', default: 'ASC' })),
  ...pageParameters,
});

const PortBody = Type.Object(
  {
    number: Type.Integer({ minimum: 0, maximum: 65_535, examples: [443] }),
    protocol: Type.String({ enum: [...PROTOCOLS], maxLength: 8, examples: ['tcp'] }),
    observed_state: Type.String({ enum: [...LISTED_STATES], maxLength: 8, examples: ['open'] }),
    service_name: unknownText('https'),
    service_banner: unknownText('nginx 1.24.0'),
    product_name: unknownText('nginx'),
    product_version: unknownText('1.24.0'),
    cpe: unknownText('cpe:/a:igor_sysoev:nginx:1.24.0'),
    first_seen: DateTime,
    last_seen: DateTime,
  },
  { title: 'Port' },
);

const PortList = portEnvelope(
  'Port list',
  'The uid of the asset.',
  Type.Object(
    {
      asset_uid: Type.String({ maxLength: 24, examples: [EXAMPLE_ASSET] }),
      ports: Type.Array(PortBody, { maxItems: MAX_PER_PAGE }),
    },
    { title: 'Port list attributes' },
  ),
);

const declareListPorts = ({ addresses, db }: Context) =>
  operation({
    id: 'listPorts',
    number: 14,
    summary: 'Get ports of a host asset',
    description:
      'The open or the closed ports that were observed on a host. For who has access to an assessment that lists the asset, admins of its organization, and staff. An asset that is not a host has none.',
    method: 'GET',
    path: '/v1/:org_uid/assets/:asset_uid/ports',
    access: { scopes: API_SCOPE, schemes: 'bearer' },
    params: PortsPath,
    query: PortsQuery,
    answers: { 200: { description: 'A page of the ports.', schema: PortList } },
    async handler({ caller, params, query, url }) {
      const { org_uid, asset_uid } = params;
      const {
        observed_state: state = 'open',
        order_by: orderBy = 'number',
        order_direction,
        limit,
        per_page = DEFAULT_PER_PAGE,
        page = 1,
      } = query;
      // Whatever else orders them, they are sorted as a whole.
      const reader = orderBy === 'number' && page * per_page <= NEAR ? db.read : db.readLong;
      const { ports, total } = await readPorts(reader, caller, org_uid, asset_uid, {
        state,
        orderBy,
        descending: order_direction === 'DESC',
        limit,
        page,
        perPage: per_page,
      });
      const attributes = { asset_uid, ports: ports.map(portBody) };
      return envelopeOf(asset_uid, attributes, { base: addresses.clientBaseUrl, url, total, page, per_page });
    },
  });

/** Rows that are passed over in an index in no time. */
const NEAR = 1_000;

/** A hundred of them a page: naming the fields is several times as fast as spreading the row. */
function portBody(port: Port) {
  return {
    number: port.number,
    protocol: port.protocol,
    observed_state: port.observed_state,
    service_name: port.service_name,
    service_banner: port.service_banner,
    product_name: port.product_name,
    product_version: port.product_version,
    cpe: port.cpe,
    first_seen: isoTime(port.first_seen),
    last_seen: isoTime(port.last_seen),
  };
}

export const PORT_OPERATIONS = [declareListPorts];
