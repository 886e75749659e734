import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoManifest } from '../harness/demo-template.ts';
import { type FormPart, formOf } from '../harness/imports.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
let token: string;
let document: any;
beforeAll(async () => {
  server = await startTestServer({}, Date.now, 'demo');
  token = demoManifest(server.context.config.dataDirectory).users.staff.token ?? '';
  document = (await server.request('GET', '/openapi.json')).body;
});
afterAll(() => server.close());

describe('The examples of the API description', () => {
  it('work as they are with the data of the demo', async () => {
    const operations = Object.entries<any>(document.paths).flatMap(
      ([path, { servers: _servers, ...methods }]) =>
        Object.entries<any>(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    // As people try them, from the first to the last: none takes away what a later one names.
    operations.sort(
      (one, other) => parseInt(one.operation.summary, 10) - parseInt(other.operation.summary, 10),
    );
    const failed: unknown[] = [];
    /** By the path of a collection, the name that something got at random when it was made there. */
    const made = new Map<string, string>();
    const another = async () => {
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
          const value = made.get(collection) ?? example ?? schema.examples?.[0];
          return text.replace(`{${name}}`, encodeURIComponent(value));
        }, path);
      const content = operation.requestBody?.content;
      const body = content?.['application/json']?.example;
      const upload = content?.['multipart/form-data']?.example;
      // Whoever reads this far has seen the first import end.
      if (url === `/v1/imports/${made.get('/v1/imports')}/cancel`)
        url = url.replace(/\d+(?=\/cancel)/, await another());
      const {
        status,
        text,
        body: answer,
      } = await server.request(method.toUpperCase(), url, {
        token,
        ...(upload === undefined ? { body } : formOf(partsOf(upload))),
      });
      const isRandom = typeof answer?.id === 'string' && body?.uid !== answer.id;
      if (status === 201 && isRandom) made.set(url, answer.id);
      if (upload !== undefined) made.set(url, String(answer.id ?? answer[0].id));
      if (status >= 300) failed.push([method, url, body, status, text]);
    }
    expect(failed).toEqual([]);
    expect(operations.length).toBeGreaterThanOrEqual(14);
  });
});

/** The parts of the example of a form, the file last. */
function partsOf({ file, ...fields }: Record<string, unknown>): FormPart[] {
  return [
    ...Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((one): FormPart => [name, String(one)]),
    ),
    ['file', String([file].flat()[0]), 'a'],
  ];
}
