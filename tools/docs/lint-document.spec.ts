import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lintDocument } from './lint-document.mjs';

const text = readFileSync(join(import.meta.dirname, '../../docs/reference/vm-service-openapi.json'), 'utf8');
type Document = { servers?: object[]; paths: Record<string, { get: { responses: Record<string, object> } }> };
const changed = (change: (document: Document) => void): string => {
  const document = JSON.parse(text) as Document;
  change(document);
  return JSON.stringify(document);
};

describe('the linters of the API document', () => {
  test('find nothing in that of the service, whose consoles have no success of 2xx', async () => {
    expect(await lintDocument(text)).toEqual([]);
  });

  test('find a document without a server', async () => {
    const problems = await lintDocument(changed((document) => delete document.servers));
    expect(problems.map((problem) => problem.split(' at ')[0])).toEqual([
      'redocly no-empty-servers',
      'spectral oas3-api-servers',
    ]);
  });

  test('find a route without a success', async () => {
    const problems = await lintDocument(
      changed(({ paths: { '/api/nodes': nodes } }) => {
        const { '200': done, ...failures } = nodes!.get.responses;
        nodes!.get.responses = { ...failures, 400: done! };
      }),
    );
    expect(problems.map((problem) => problem.split(' at ')[0])).toEqual([
      'redocly operation-2xx-response',
      'spectral operation-success-response',
    ]);
  });
});
