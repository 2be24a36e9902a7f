import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Edge } from '../testing/edge.js';
import type { DocumentShape } from './document-shape.js';
import { renderPage } from './render-page.js';

const FILE = join(import.meta.dirname, '../../../../docs/reference/vm-service-openapi.json');

describe('the API document', () => {
  let edge: Edge;
  beforeAll(async () => void (edge = await new Edge().open()));
  afterAll(() => edge.close());

  test('is served as the file of the reference', async () => {
    const answer = await edge.send('GET', '/api/ext/openapi.json');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(answer.body)).toEqual(JSON.parse(await readFile(FILE, 'utf8')));
  });

  test('has a page with a link to each operation and each schema', async () => {
    const { paths, components } = JSON.parse(await readFile(FILE, 'utf8')) as DocumentShape;
    const { headers, body } = await edge.send('GET', '/api/ext/docs');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const ids = new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const item of Object.values(paths))
      for (const { operationId } of Object.values(item)) expect(ids).toContain(operationId);
    for (const name of Object.keys(components.schemas)) expect(ids).toContain(`schema-${name}`);
    const links = [...body.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.length).toBeGreaterThan(300);
    expect(links.filter((id) => !ids.has(id))).toEqual([]);
  });

  test('has a page without assets, whose policy permits only its own style', async () => {
    const { headers, body } = await edge.send('GET', '/api/ext/docs');
    expect(body).not.toMatch(/<(script|link|img|iframe|form)\b|\ssrc=|url\(|@import|\son\w+=/i);
    expect([...body.matchAll(/ href="([^#"]+)"/g)].map(([, link]) => link)).toEqual(['openapi.json']);
    const style = /<style>([^]*?)<\/style>/.exec(body)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
    );
  });

  test.each(['/api/ext/openapi.json', '/api/ext/docs'])(
    'at %s is compressed on request, and 304 unless changed',
    async (path) => {
      const plain = await edge.send('GET', path);
      const host = { host: 'localhost:8006' };
      const coded = await edge.service.app.inject({
        method: 'GET',
        url: path,
        headers: { ...host, 'accept-encoding': 'gzip' },
      });
      expect(coded.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
      expect(gunzipSync(coded.rawPayload).toString()).toBe(plain.body);
      expect(coded.headers.etag).not.toBe(plain.headers['etag']);
      const etag = String(plain.headers['etag']);
      expect((await edge.send('GET', path, undefined, { 'if-none-match': etag })).status).toBe(304);
      expect((await edge.send('GET', path, undefined, { 'if-none-match': '"other"' })).status).toBe(200);
    },
  );

  test.each(['/api/ext/openapi.json', '/api/ext/docs'])('at %s is not for other sites and hosts', async (path) => {
    const foreign = await edge.send('GET', path, undefined, {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'cors',
    });
    expect([foreign.status, foreign.json.code]).toEqual([403, 'FOREIGN_ORIGIN']);
    expect((await edge.send('GET', path, undefined, { host: 'evil.example' })).json.code).toBe('UNKNOWN_HOST');
  });

  test('has a page that shows markup in a description as text', () => {
    const text = '<script>alert(1)</script> & `<b>`';
    const page = renderPage({
      info: { title: text, version: text, description: text },
      tags: [{ name: 'Things', description: text }],
      paths: {
        '/things': {
          get: {
            operationId: 'Things.list',
            summary: text,
            description: text,
            tags: ['Things'],
            parameters: [{ name: text, in: 'query', description: text, schema: { type: 'string', enum: [text] } }],
            responses: { '200': { description: text, content: { 'application/json': { schema: { const: text } } } } },
          },
        },
      },
      components: {
        schemas: { Thing: { description: text, type: 'object', properties: { [text]: { description: text } } } },
        securitySchemes: { key: { description: text } },
      },
    });
    expect(page).not.toMatch(/<script|<b>/);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; <code>&lt;b&gt;</code>');
  });
});
