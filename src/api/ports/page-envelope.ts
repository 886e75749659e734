import { type TSchema, Type } from 'typebox';
import { PageLinkSchema, pageLinks, pageCount } from '../../http/lists/page-links.ts';

export const DEFAULT_PER_PAGE = 100;
export const MAX_PER_PAGE = 1_000;

export const PORTS_EXAMPLE_ASSET_UID = '5f0c1e2d3b4a59687786a5b4';

export const portPageParameters = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The maximum number of results over all pages.',
      examples: [500],
    }),
  ),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PER_PAGE, default: DEFAULT_PER_PAGE })),
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 1,
      description: 'Page number, starting at 1. A page past the last one is empty.',
    }),
  ),
};

const EXAMPLE_PORTS_URL = `http://127.0.0.1:8080/api/streaming/v1/acme/assets/${PORTS_EXAMPLE_ASSET_UID}/ports`;

const LinksSchema = Type.Object(
  { next: Type.Optional(PageLinkSchema), prev: Type.Optional(PageLinkSchema) },
  {
    title: 'Port list links',
    description: '`prev` is absent on the first page and `next` on the last.',
    examples: [{ next: `${EXAMPLE_PORTS_URL}?page=2` }],
  },
);

const MetaSchema = Type.Object(
  {
    total: Type.Integer({
      minimum: 0,
      description: 'The number of results over all pages, after `limit` is applied.',
    }),
    page: Type.Integer({ minimum: 1 }),
    per_page: Type.Integer({ minimum: 1, maximum: MAX_PER_PAGE }),
    total_pages: Type.Integer({ minimum: 0 }),
  },
  { title: 'Port list meta', examples: [{ total: 120, page: 1, per_page: 100, total_pages: 2 }] },
);

const emptyArraySchema = (description: string): TSchema =>
  Type.Array(Type.Object({}), { maxItems: 0, description });

/** The envelope of the port list of the specification, in the style of JSON:API. */
export const pageEnvelopeSchema = <A extends TSchema>(title: string, idDescription: string, attributes: A) =>
  Type.Object(
    {
      data: Type.Object(
        {
          type: Type.String({ const: 'asset_list', maxLength: 16 }),
          id: Type.String({
            maxLength: 50,
            description: idDescription,
            examples: [idDescription.includes('organization') ? 'acme' : PORTS_EXAMPLE_ASSET_UID],
          }),
          attributes,
          links: LinksSchema,
          meta: MetaSchema,
          relationships: Type.Object({}, { description: 'Empty.' }),
        },
        { title: `${title} data` },
      ),
      errors: emptyArraySchema('Always empty. Errors have a response of their own.'),
      included: emptyArraySchema('Empty.'),
      links: LinksSchema,
      meta: MetaSchema,
    },
    { title },
  );

interface EnvelopePage {
  /** Origin and prefix, which precede the path. */
  base: string;
  url: string;
  total: number;
  page: number;
  per_page: number;
}

export function toPageEnvelope<A>(
  id: string,
  attributes: A,
  { base, url, total, page, per_page }: EnvelopePage,
) {
  const total_pages = pageCount(total, per_page);
  const { prev, next } = pageLinks(base, url, page, total_pages);
  const links = { ...(next === undefined ? {} : { next }), ...(prev === undefined ? {} : { prev }) };
  const meta = { total, page, per_page, total_pages };
  return {
    data: { type: 'asset_list' as const, id, attributes, links, meta, relationships: {} },
    errors: [],
    included: [],
    links,
    meta,
  };
}
