import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SystemClock } from '@headgate/domain-contracts';
import { connectToExporter } from './exporter-connection.js';

const HOST = 'virt-export-hg-1.tailvm.svc';
const canCertify = spawnSync('openssl', ['version']).status === 0;
const withOpenssl = canCertify ? test : test.skip;
const why = canCertify ? '' : ': skipped, openssl is not installed';
const never = new AbortController().signal;

/** As in a cluster, where the name leads to the exporter. */
const toLoopback: LookupFunction = (_host, _options, found) =>
  (found as (error: null, addresses: { address: string; family: number }[]) => void)(null, [
    { address: '127.0.0.1', family: 4 },
  ]);

function certificate(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-exporter-'));
  try {
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
    const names = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`, '-days', '2', '-nodes'];
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    spawnSync('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', cert]);
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the connection to an exporter', () => {
  let server: Server | undefined;
  let received: IncomingHttpHeaders = {};
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  const exporter = async (status = 200): Promise<{ url: URL; cert: string }> => {
    const { key, cert } = certificate();
    server = createServer({ key, cert }, (request, response) => {
      received = request.headers;
      response.writeHead(status).end('the disk');
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return { url: new URL(`https://${HOST}:${(server.address() as AddressInfo).port}/volumes/a/disk.img.gz`), cert };
  };

  const connect = (url: URL, cert: string, lookup: LookupFunction = toLoopback) =>
    connectToExporter(new SystemClock(), {
      url,
      certificate: cert,
      headers: { 'x-kubevirt-export-token': 'secret' },
      signal: never,
      lookup,
    });

  withOpenssl(`trusts the certificate that the export names, and sends the token to it${why}`, async () => {
    const { url, cert } = await exporter();
    const response = await connect(url, cert);
    expect(response && (await text(response))).toBe('the disk');
    expect(received['x-kubevirt-export-token']).toBe('secret');
  });

  withOpenssl(`sends no token to a server with another certificate${why}`, async () => {
    received = {};
    const { url } = await exporter();
    await expect(connect(url, certificate().cert)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    expect(received).toEqual({});
  });

  withOpenssl(`fails when the exporter refuses the token${why}`, async () => {
    const { url, cert } = await exporter(401);
    await expect(connect(url, cert)).rejects.toMatchObject({ message: expect.stringContaining('401') });
  });

  test('is not there outside of the cluster, where the name does not resolve', async () => {
    const unknown: LookupFunction = (_host, _options, found) =>
      found(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), '', 4);
    expect(await connect(new URL(`https://${HOST}/`), '', unknown)).toBeUndefined();
  });
});
