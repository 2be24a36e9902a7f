import { generateKeyPairSync } from 'node:crypto';
import { DomainError, SILENT_LOG } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { parsePublicKey } from '../format/signature.js';
import { archiveOf, indexOf, sha256Of, TestPublisher } from '../testing/build-plugin.js';
import { BundledSource } from './bundled-source.js';
import { IndexSource, type Download } from './index-source.js';
import { PluginStore } from './plugin-store.js';

const INDEX = 'https://plugins.example.org/v1/index.json';
const signal = new AbortController().signal;

describe('IndexSource', () => {
  const clock = new FixedClock(0);
  const acme = new TestPublisher();
  let archive: Buffer;
  let served: Map<string, Buffer | Error>;
  let requests: string[];

  const download: Download = async (url, { maxBytes }) => {
    requests.push(url.href);
    const content = served.get(url.href);
    if (!content) throw new DomainError('BACKEND_FAILED', `${url.host} returned 404.`);
    if (content instanceof Error) throw content;
    if (content.length > maxBytes) throw new DomainError('INVALID_PLUGIN', 'too large');
    return content;
  };
  const source = () =>
    new IndexSource({ url: INDEX, publishers: new Map([['acme', acme.publicKey]]), download, clock });
  const offerOf = async (entry: object) => {
    served.set(INDEX, Buffer.from(indexOf(entry)));
    const [offer] = await source().offers();
    if (!offer) throw new Error('no offer');
    return offer;
  };

  beforeEach(async () => {
    archive = await archiveOf();
    requests = [];
    served = new Map([['https://plugins.example.org/v1/sample.tar', archive]]);
  });

  test('fetches an archive next to the index that its publisher has signed', async () => {
    const offer = await offerOf(acme.entry(archive));
    expect(offer).toMatchObject({ name: 'sample', version: '1.0.0', origin: INDEX, publisher: 'acme' });
    expect(await offer.fetch(signal)).toEqual(archive);
  });

  test('verifies SHA-512 digests as well', async () => {
    const { createHash } = await import('node:crypto');
    const entry = acme.entry(archive);
    const digest = `sha512:${createHash('sha512').update(archive).digest('hex')}`;
    await expect((await offerOf({ ...entry, digest })).fetch(signal)).rejects.toThrow(/signature is not that of acme/);
  });

  test.each<[title: string, change: (entry: ReturnType<TestPublisher['entry']>) => object, problem: RegExp]>([
    ['an unknown publisher', (entry) => ({ ...entry, publisher: 'mallory' }), /publisher "mallory" is not trusted/],
    [
      'the signature of another key under a trusted name',
      (entry) => ({ ...entry, signature: new TestPublisher().entry(Buffer.from('x')).signature }),
      /signature is not that of acme/,
    ],
    ['a signed archive under another name', (entry) => ({ ...entry, name: 'other' }), /signature is not that of acme/],
    ['an old archive as a new version', (entry) => ({ ...entry, version: '2.0.0' }), /signature is not that of acme/],
    ['another digest', (entry) => ({ ...entry, digest: sha256Of(Buffer.from('x')) }), /signature is not that of acme/],
    ['a huge archive', (entry) => ({ ...entry, bytes: 1e12 }), /archive is larger than/],
  ])('refuses %s without a download', async (_title, change, problem) => {
    const offer = await offerOf(change(acme.entry(archive)));
    requests = [];
    await expect(offer.fetch(signal)).rejects.toMatchObject({
      code: 'INVALID_PLUGIN',
      message: expect.stringMatching(problem) as string,
    });
    expect(requests).toEqual([]);
  });

  test('refuses an archive that was replaced, also by one of the same length', async () => {
    const offer = await offerOf(acme.entry(archive));
    const other = Buffer.from(archive);
    other[0] = (other[0] ?? 0) ^ 1;
    served.set('https://plugins.example.org/v1/sample.tar', other);
    await expect(offer.fetch(signal)).rejects.toThrow(/the archive has the digest sha256:[0-9a-f]{64}, not sha256:/);
    served.set('https://plugins.example.org/v1/sample.tar', archive.subarray(0, 100));
    await expect(offer.fetch(signal)).rejects.toThrow(/the archive has 100 bytes instead of/);
  });

  test('reads the index again after ten minutes, and a broken one after half a minute', async () => {
    served.set(INDEX, Buffer.from('<html>'));
    const index = source();
    await expect(index.offers()).rejects.toThrow(/not JSON/);
    served.set(INDEX, Buffer.from(indexOf(acme.entry(archive))));
    await expect(index.offers()).rejects.toThrow(/not JSON/);
    clock.advance(30_000);
    expect(await index.offers()).toHaveLength(1);
    clock.advance(9 * 60_000);
    await index.offers();
    expect(requests).toHaveLength(2);
    clock.advance(60_000);
    await Promise.all([index.offers(), index.offers()]);
    expect(requests).toHaveLength(3);
  });

  test('gives up on an index that does not arrive', async () => {
    const index = new IndexSource({
      url: INDEX,
      publishers: new Map(),
      download: (_url, { signal: ended }) =>
        new Promise((_resolve, reject) => ended.addEventListener('abort', () => reject(new Error('aborted')))),
      clock,
    });
    const offers = index.offers();
    clock.advance(10_000);
    await expect(offers).rejects.toThrow('plugins.example.org did not send the index in time.');
  });
});

describe('PluginStore', () => {
  const offering = (origin: string, ...names: string[]) => ({
    origin,
    offers: async () =>
      names.map((name) => ({
        ...new TestPublisher().entry(Buffer.from('x'), { name }),
        origin,
        fetch: async () => Buffer.from(origin),
      })),
  });

  test('prefers the earlier source, and one that can not be read does not hide the others', async () => {
    const broken = { origin: 'https://b.example/', offers: async () => Promise.reject(new Error('out of order')) };
    const store = new PluginStore(
      [offering('bundled', 'bootc'), broken, offering('https://a.example/', 'bootc', 'other')],
      SILENT_LOG,
    );
    const { offers, problems } = await store.read();
    expect([...offers.values()].map(({ name, origin }) => [name, origin])).toEqual([
      ['bootc', 'bundled'],
      ['other', 'https://a.example/'],
    ]);
    expect([...problems]).toEqual([['https://b.example/', 'out of order']]);
  });
});

describe('BundledSource', () => {
  test('offers the bundled plugins with archives that have the pinned digests', async () => {
    const offers = await new BundledSource().offers();
    expect(offers.map(({ name }) => name)).toEqual(['bootc']);
    for (const offer of offers) expect(sha256Of(await offer.fetch(signal))).toBe(offer.digest);
  });

  test('refuses files that differ from their digest', async () => {
    const [offer] = await new BundledSource([
      {
        name: 'a',
        description: '',
        version: '1.0.0',
        apiVersion: 1,
        digest: sha256Of(await archiveOf()),
        files: { a: 'b' },
      },
    ]).offers();
    await expect(offer?.fetch(signal)).rejects.toMatchObject({ code: 'INVALID_PLUGIN' });
  });
});

describe('parsePublicKey', () => {
  test('accepts Ed25519 keys only', () => {
    expect(parsePublicKey(new TestPublisher().publicText).asymmetricKeyType).toBe('ed25519');
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    expect(() => parsePublicKey(rsa.export({ format: 'der', type: 'spki' }).toString('base64'))).toThrow(/Ed25519/);
    expect(() => parsePublicKey('bm8=')).toThrow();
  });
});
