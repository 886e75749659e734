import { beforeAll, describe, expect, it } from 'vitest';
import { demoManifest } from '../harness/demo-template.ts';
import { type FormPart, formOf } from '../harness/imports.ts';
import { useOwnServer } from '../harness/server.ts';

let token: string;
let document: any;
const server = await useOwnServer({}, Date.now, 'demo');
beforeAll(async () => {
  token = demoManifest(server.context.config.dataDirectory).users.staff.token ?? '';
  document = (await server.request('GET', '/openapi.json')).body;
});

describe('Examples of the API description', () => {
  it('succeed unchanged with the demo data', async () => {
    const operations = Object.entries<any>(document.paths).flatMap(
      ([path, { servers: _servers, ...methods }]) =>
        Object.entries<any>(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    // Runs the operations in the order of their numbers: none deletes what a later one uses.
    operations.sort(
      (one, other) => parseInt(one.operation.summary, 10) - parseInt(other.operation.summary, 10),
    );
    const failed: unknown[] = [];
    /** Ids that the server assigned, by the path of the collection. */
    const assignedIds = new Map<string, string>();
    const startImport = async () => {
      const { example } = document.paths['/v1/imports'].post.requestBody.content['multipart/form-data'];
      const started = await server.request('POST', '/v1/imports', { token, ...formOf(partsOf(example)) });
      return String(started.body.id);
    };
    for (const { path, method, operation } of operations) {
      const parameters: any[] = operation.parameters ?? [];
      let url: string = parameters
        .filter((parameter) => parameter.in === 'path')
        .reduce((text, { name, example, schema }) => {
          const collection = text.slice(0, text.indexOf(`/{${name}}`));
          const value = assignedIds.get(collection) ?? example ?? schema.examples?.[0];
          return text.replace(`{${name}}`, encodeURIComponent(value));
        }, path);
      const content = operation.requestBody?.content;
      const body = content?.['application/json']?.example;
      const upload = content?.['multipart/form-data']?.example;
      // The first import has ended by now.
      if (url === `/v1/imports/${assignedIds.get('/v1/imports')}/cancel`)
        url = url.replace(/\d+(?=\/cancel)/, await startImport());
      const {
        status,
        text,
        body: response,
      } = await server.request(method.toUpperCase(), url, {
        token,
        ...(upload === undefined ? { body } : formOf(partsOf(upload))),
      });
      const isRandom = typeof response?.id === 'string' && body?.uid !== response.id;
      if (status === 201 && isRandom) assignedIds.set(url, response.id);
      if (upload !== undefined) assignedIds.set(url, String(response.id ?? response[0].id));
      if (status >= 300) failed.push([method, url, body, status, text]);
    }
    expect(failed).toEqual([]);
    expect(operations.length).toBeGreaterThanOrEqual(14);
  });
});

/** The parts of a form, the file last. */
function partsOf({ file, ...fields }: Record<string, unknown>): FormPart[] {
  return [
    ...Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((item): FormPart => [name, String(item)]),
    ),
    ['file', String([file].flat()[0]), 'a'],
  ];
}
