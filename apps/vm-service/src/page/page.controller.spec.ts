import 'reflect-metadata';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Edge } from '../testing/edge.js';

describe('the page', () => {
  test('consists of four paths, with a policy that allows nothing else', async () => {
    const edge = new Edge();
    const page = join(edge.folder, 'page');
    mkdirSync(page);
    for (const name of ['index.html', 'style.css', 'app.js', 'icons.js', 'screen-libraries.js', 'secret.txt']) {
      writeFileSync(join(page, name), `${name} `.repeat(200));
      writeFileSync(join(page, `${name}.br`), `${name} in Brotli`);
      writeFileSync(join(page, `${name}.gz`), `${name} in gzip`);
    }
    for (const name of ['manifest.webmanifest', 'icon.svg', 'icon.png']) writeFileSync(join(page, name), name);
    writeFileSync(join(page, 'de.json'), '{}');
    await edge.open();
    for (const [path, type, file] of [
      ['/', 'text/html', 'index.html'],
      ['/style.css', 'text/css', 'style.css'],
      ['/app.js', 'text/javascript', 'app.js'],
      ['/icons.js', 'text/javascript', 'icons.js'],
    ] as const) {
      const etags = new Set<string>();
      for (const [accepted, coding, body] of [
        ['', undefined, `${file} `.repeat(200)],
        ['gzip;q=0.8, br', 'br', `${file} in Brotli`],
        ['gzip, br;q=0', 'gzip', `${file} in gzip`],
        ['br;q=0, identity', undefined, `${file} `.repeat(200)],
      ] as const) {
        const headers = { 'accept-encoding': accepted };
        const answer = await edge.send('GET', path, undefined, headers);
        expect(String(answer.headers['content-type'])).toMatch(type);
        expect(String(answer.headers['content-security-policy'])).toMatch(/^default-src 'none'/);
        expect(answer.headers).toMatchObject({ vary: 'accept-encoding' });
        expect([path, answer.headers['content-encoding'], answer.body]).toEqual([path, coding, body]);
        const etag = String(answer.headers['etag']);
        etags.add(etag);
        expect((await edge.send('GET', path, undefined, { ...headers, 'if-none-match': etag })).status).toBe(304);
      }
      // A cache must not answer a client with a coding that the client does not accept.
      expect(etags.size).toBe(3);
    }
    expect((await edge.send('GET', '/app.js.br')).status).toBe(404);
    expect((await edge.send('GET', '/secret.txt')).status).toBe(404);
    const part = await edge.send('GET', '/app.js?part=consoles');
    expect(String(part.body)).toMatch(/^screen-libraries\.js /);
    // Fonts come from the style sheet only, never from an address.
    const policy = String((await edge.send('GET', '/')).headers['content-security-policy']).split('; ');
    expect(policy.filter((directive) => directive.startsWith('font-src'))).toEqual(['font-src data:']);
    expect(policy).toContain("manifest-src 'self'");
    for (const [file, type] of [
      ['manifest.webmanifest', 'application/manifest+json'],
      ['icon.svg', 'image/svg+xml'],
      ['icon.png', 'image/png'],
      ['de.json', 'application/json; charset=utf-8'],
    ] as const) {
      const answer = await edge.send('GET', `/api/ext/page/${file}`);
      const body = file === 'de.json' ? '{}' : file;
      expect([answer.status, answer.headers['content-type'], answer.body]).toEqual([200, type, body]);
      expect((await edge.send('GET', `/${file}`)).status).toBe(404);
    }
    expect((await edge.send('GET', '/api/ext/page/secret.txt')).status).toBe(404);
    expect((await edge.send('GET', '/screen-libraries.js')).status).toBe(404);
    expect((await edge.send('GET', '/app.js?part=secret')).status).toBe(400);
    await edge.close();
  });
});
