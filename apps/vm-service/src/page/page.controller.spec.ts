import 'reflect-metadata';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Edge } from '../testing/edge.js';

describe('the page', () => {
  test('is exactly four files, served with a policy that lets nothing else in', async () => {
    const edge = new Edge();
    const page = join(edge.folder, 'page');
    mkdirSync(page);
    for (const name of ['index.html', 'style.css', 'app.js', 'icons.js', 'secret.txt'])
      writeFileSync(join(page, name), `${name} `.repeat(200));
    await edge.open();
    for (const [path, type] of [
      ['/', 'text/html'],
      ['/style.css', 'text/css'],
      ['/app.js', 'text/javascript'],
      ['/icons.js', 'text/javascript'],
    ] as const) {
      const answer = await edge.send('GET', path);
      expect(String(answer.headers['content-type'])).toMatch(type);
      expect(String(answer.headers['content-security-policy'])).toMatch(/^default-src 'none'/);
      const etag = String(answer.headers['etag']);
      expect((await edge.send('GET', path, undefined, { 'if-none-match': etag })).status).toBe(304);
      expect((await edge.send('GET', path, undefined, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBe(
        'gzip',
      );
    }
    expect((await edge.send('GET', '/secret.txt')).status).toBe(404);
    await edge.close();
  });
});
