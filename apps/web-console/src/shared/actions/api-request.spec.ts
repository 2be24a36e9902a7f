/** @jest-environment node */
import { execFileSync } from 'node:child_process';
import { curlOf, type ApiRequest } from './api-request.js';

const ORIGIN = 'http://127.0.0.1:8000';

/** The words that a shell passes to the command. */
const wordsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

describe('curlOf', () => {
  test.each([
    'plain',
    "it's",
    '"double" and $HOME and `id` and $(id)',
    'a\\b\nc;d&e|f>g<h*i?j~k!l#m',
    "'",
    '',
    'Zürich 世界',
  ])('passes the tag %j through a shell unchanged', (tag) => {
    const request = { method: 'POST', path: '/api/vms/lab/web/tags', body: { tag, on: true } } as ApiRequest;
    expect(wordsOf(curlOf(request, ORIGIN))).toEqual([
      'curl',
      '-X',
      'POST',
      '-H',
      'content-type: application/json',
      '--data',
      JSON.stringify({ tag, on: true }),
      `${ORIGIN}/api/vms/lab/web/tags`,
    ]);
  });

  test('keeps a query with several values in one word, and sends no body without one', () => {
    const query = { context: "o'hara & sons", force: true, none: undefined };
    const request = { method: 'POST', path: '/api/vms/lab/web/stop', query } as ApiRequest;
    expect(wordsOf(curlOf(request, ORIGIN))).toEqual([
      'curl',
      '-X',
      'POST',
      `${ORIGIN}/api/vms/lab/web/stop?context=o%27hara+%26+sons&force=true`,
    ]);
  });

  test('needs no quotes for a plain request', () =>
    expect(curlOf({ method: 'DELETE', path: '/api/vms/lab/web' }, ORIGIN)).toBe(
      `curl -X DELETE ${ORIGIN}/api/vms/lab/web`,
    ));
});
