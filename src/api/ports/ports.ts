import { Type } from 'typebox';
import { API_SCOPE } from '../../auth/scopes.ts';
import type { Context } from '../../context.ts';
import {
  LISTED_PORT_STATES,
  type Port,
  PORT_SORT_FIELDS,
  PROTOCOLS,
  readPorts,
} from '../../domain/assets/ports.ts';
import { formatTimestamp } from '../../domain/shared/time.ts';
import { operation, operationsOf } from '../../http/operation.ts';
import { DateTimeSchema, MAX_TEXT, nullableTextSchema } from '../../http/schemas.ts';
import {
  DEFAULT_PER_PAGE,
  toPageEnvelope,
  PORTS_EXAMPLE_ASSET_UID,
  MAX_PER_PAGE,
  portPageParameters,
  pageEnvelopeSchema,
} from './page-envelope.ts';

/** A value that is not a uid matches no asset, so the response is a 404. */
export const PortsParamsSchema = Type.Object({
  org_uid: Type.String({
    maxLength: MAX_TEXT,
    description: 'The uid of the organization that owns the asset.',
    examples: ['acme'],
  }),
  asset_uid: Type.String({
    maxLength: MAX_TEXT,
    description: 'The uid of an asset.',
    examples: [PORTS_EXAMPLE_ASSET_UID],
  }),
});

const PortsQuerySchema = Type.Object({
  observed_state: Type.Optional(Type.Enum(LISTED_PORT_STATES, { type: 'string', default: 'open' })),
  order_by: Type.Optional(
    Type.Enum(PORT_SORT_FIELDS, {
      type: 'string',
      default: 'number',
      description:
        'Field to sort by. Ties are broken by port number and protocol, ascending; unknown values come last.',
    }),
  ),
  order_direction: Type.Optional(Type.Enum(['ASC', 'DESC'], { type: 'string', default: 'ASC' })),
  ...portPageParameters,
});

const PortSchema = Type.Object(
  {
    number: Type.Integer({ minimum: 0, maximum: 65_535, examples: [443] }),
    protocol: Type.String({ enum: [...PROTOCOLS], maxLength: 8, examples: ['tcp'] }),
    observed_state: Type.String({ enum: [...LISTED_PORT_STATES], maxLength: 8, examples: ['open'] }),
    service_name: nullableTextSchema('https'),
    service_banner: nullableTextSchema('nginx 1.24.0'),
    product_name: nullableTextSchema('nginx'),
    product_version: nullableTextSchema('1.24.0'),
    cpe: nullableTextSchema('cpe:/a:igor_sysoev:nginx:1.24.0'),
    first_seen: DateTimeSchema,
    last_seen: DateTimeSchema,
  },
  { title: 'Port' },
);

const PortListSchema = pageEnvelopeSchema(
  'Port list',
  'The uid of the asset.',
  Type.Object(
    {
      asset_uid: Type.String({ maxLength: 24, examples: [PORTS_EXAMPLE_ASSET_UID] }),
      ports: Type.Array(PortSchema, { maxItems: MAX_PER_PAGE }),
    },
    { title: 'Port list attributes' },
  ),
);

const listPortsOperation = ({ addresses, db }: Context) =>
  operation({
    id: 'listPorts',
    number: 14,
    summary: 'Get ports of a host asset',
    description:
      'Lists the open or closed ports observed on a host. Requires access to an assessment that lists the asset, has a vulnerability on it or an import that saw it, an admin of its organization, or staff. An asset that is not a host has no ports.',
    method: 'GET',
    path: '/v1/:org_uid/assets/:asset_uid/ports',
    access: { scopes: API_SCOPE, schemes: 'bearer' },
    params: PortsParamsSchema,
    query: PortsQuerySchema,
    responses: { 200: { description: 'A page of ports.', schema: PortListSchema } },
    async handler({ abortState, caller, params, query, url }) {
      const { org_uid, asset_uid } = params;
      const {
        observed_state: state = 'open',
        order_by: orderBy = 'number',
        order_direction,
        limit,
        per_page = DEFAULT_PER_PAGE,
        page = 1,
      } = query;
      // Any other order sorts all rows.
      const reader =
        orderBy === 'number' && page * per_page <= MAX_OFFSET_READ ? db.read : db.abortableRead(abortState);
      const { ports, total } = await readPorts(reader, caller, org_uid, asset_uid, {
        state,
        orderBy,
        descending: order_direction === 'DESC',
        limit,
        page,
        perPage: per_page,
      });
      const attributes = { asset_uid, ports: ports.map(toPortBody) };
      return toPageEnvelope(asset_uid, attributes, {
        base: addresses.clientBaseUrl,
        url,
        total,
        page,
        per_page,
      });
    },
  });

/** Offset up to which rows are skipped in an index in negligible time. */
const MAX_OFFSET_READ = 1_000;

/** Names each field, which is several times as fast as spreading the row. */
function toPortBody(port: Port) {
  return {
    number: port.number,
    protocol: port.protocol,
    observed_state: port.observed_state,
    service_name: port.service_name,
    service_banner: port.service_banner,
    product_name: port.product_name,
    product_version: port.product_version,
    cpe: port.cpe,
    first_seen: formatTimestamp(port.first_seen),
    last_seen: formatTimestamp(port.last_seen),
  };
}

export default operationsOf('streaming', [listPortsOperation]);
