import { IGNORED_HEADER, IgnoredPropertiesHeader } from './validation/unknown-properties.ts';
import { type SuccessResponse, takesIfMatch, type Operation } from './operation.ts';
import { IDEMPOTENCY_REPLAYED_HEADER, ReplayedHeader } from './idempotency.ts';
import { JSON_TYPE } from './operation-result.ts';
import { ETagHeader } from './etags.ts';

/** An example row in each media type. */
const DOWNLOAD_EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'text/csv': ['id,name\r\n1,First\r\n'],
  'application/x-ndjson': ['{"id":1,"name":"First"}\n'],
};

export const MULTIPART_TYPE = 'multipart/form-data';
/** The largest `maxAttachmentSize` that can be configured, in bytes. */
const MAX_FILE_SIZE = 1024 ** 3;
const BINARY_TYPE = 'application/octet-stream';

/** Returns the error statuses of this operation, in addition to those of every operation. */
export function errorStatuses(declared: Operation): number[] {
  const {
    method,
    access,
    params,
    query,
    body,
    multipart,
    extraErrorStatuses = [],
    versioned,
    idempotency,
  } = declared;
  const takesInput = params !== undefined || query !== undefined || body !== undefined;
  return [
    // Several credentials at once are malformed as well.
    ...(takesInput || access.schemes === 'all' || idempotency !== undefined ? [400] : []),
    // Any change can conflict, and a body is checked even if the operation ignores it.
    ...(method === 'GET' ? [] : [408, 409, 413, 415]),
    ...(versioned === true && takesIfMatch(method) ? [412] : []),
    ...(body === undefined && multipart === undefined && idempotency === undefined ? [] : [422]),
    ...extraErrorStatuses,
  ];
}

/**
 * Describes the success responses of an operation. @param mayIgnore whether unknown properties of the body can be
 * reported
 */
export function describeResponses(
  { method, responses, versioned, idempotency }: Operation,
  mayIgnore: boolean,
): Record<string, object> {
  const headersOf = ({ headers, schema }: SuccessResponse) => ({
    ...headers,
    ...(versioned === true && schema !== undefined ? { ETag: ETagHeader } : {}),
    ...(idempotency === undefined ? {} : { [IDEMPOTENCY_REPLAYED_HEADER]: ReplayedHeader }),
    ...(mayIgnore ? { [IGNORED_HEADER]: IgnoredPropertiesHeader } : {}),
  });
  return Object.fromEntries([
    ...Object.entries(responses).map(([status, response]) => [
      status,
      {
        description: response.description,
        headers: headersOf(response),
        ...(response.binary === true
          ? {
              content: {
                [BINARY_TYPE]: {
                  schema: {
                    type: 'string',
                    format: 'binary',
                    maxLength: MAX_FILE_SIZE,
                    examples: ['GET /search?q=%27 HTTP/1.1'],
                  },
                },
              },
            }
          : response.stream !== undefined
            ? {
                content: {
                  [response.stream.type]: {
                    schema: { type: 'string', maxLength: MAX_FILE_SIZE, examples: [response.stream.example] },
                  },
                },
              }
            : response.schema === undefined
              ? { type: 'null' }
              : {
                  content: {
                    [JSON_TYPE]: { schema: response.schema },
                    ...Object.fromEntries(
                      (response.otherTypes ?? []).map((type) => [
                        type,
                        { schema: { type: 'string', examples: DOWNLOAD_EXAMPLES[type] } },
                      ]),
                    ),
                  },
                }),
      },
    ]),
    ...(versioned === true && method === 'GET'
      ? [
          [
            304,
            {
              description: 'Not modified: the resource matches If-None-Match.',
              headers: { ETag: ETagHeader },
              type: 'null',
            },
          ],
        ]
      : []),
  ]) as Record<string, object>;
}
