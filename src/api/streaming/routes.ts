import { type Port, readPorts } from '../../domain/assets/ports.ts';
import { callerOf } from '../../http/access.ts';
import type { RegisterRoutes } from '../../http/area-plugin.ts';
import { AREAS } from '../../http/areas.ts';
import { pageLinks, pagesOf } from '../../http/paging.ts';
import { errorResponses } from '../../http/schemas.ts';
import { isoTime } from '../../domain/shared/time.ts';
import { DEFAULT_PER_PAGE, PortsPath, PortsQuery, PortsResponse } from './schemas.ts';

const area = AREAS.streaming;

/** Operation 14. */
export const registerStreamingRoutes: RegisterRoutes = (app, { addresses, db }) => {
  app.get(
    '/v1/:org_uid/assets/:asset_uid/ports',
    {
      config: { operation: 'listPorts', access: { scopes: ['api'], schemes: 'bearer' } },
      schema: {
        operationId: 'listPorts',
        summary: '14. Get ports of a host asset',
        description:
          'The open or the closed ports that were observed on a host. For who has access to an assessment that lists the asset, admins of its organization, and staff. An asset that is not a host has none.',
        params: PortsPath,
        querystring: PortsQuery,
        response: {
          200: {
            description: 'A page of the ports.',
            content: { 'application/json': { schema: PortsResponse } },
          },
          ...errorResponses(area, [400]),
        },
      },
    },
    async (request) => {
      const { org_uid, asset_uid } = request.params;
      const {
        observed_state: state = 'open',
        order_by: orderBy = 'number',
        order_direction,
        limit,
        per_page = DEFAULT_PER_PAGE,
        page = 1,
      } = request.query;
      const { ports, total } = await readPorts(db.read, callerOf(request), org_uid, asset_uid, {
        state,
        orderBy,
        descending: order_direction === 'DESC',
        limit,
        page,
        perPage: per_page,
      });
      const total_pages = pagesOf(total, per_page);
      const { prev, next } = pageLinks(addresses.clientBaseUrl, request.url, page, total_pages);
      const links = { ...(next === undefined ? {} : { next }), ...(prev === undefined ? {} : { prev }) };
      const meta = { total, page, per_page, total_pages };
      return {
        data: {
          type: 'asset_list',
          id: asset_uid,
          attributes: { asset_uid, ports: ports.map(portBody) },
          links,
          meta,
          relationships: {},
        },
        errors: [],
        included: [],
        links,
        meta,
      };
    },
  );
};

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
