import 'reflect-metadata';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Edge } from '../testing/edge.js';

describe('the page', () => {
  test('consists of four paths, with a policy that allows nothing else', async () => {
    const edge = new Edge();
    const page = join(edge.folder, 'page');
    mkdirSync(page);
    for (const name of ['index.html', 'style.css', 'app.js', 'icons.js', 'screen-libraries.js', 'secret.txt'])
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
    const part = await edge.send('GET', '/app.js?part=consoles');
    expect(String(part.body)).toMatch(/^screen-libraries\.js /);
    expect((await edge.send('GET', '/screen-libraries.js')).status).toBe(404);
    expect((await edge.send('GET', '/app.js?part=secret')).status).toBe(400);
    await edge.close();
  });
});
