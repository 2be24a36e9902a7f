import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const plugins = join(import.meta.dirname, '../../../libs/plugins');

/** An index with the example plugin, packed and signed as its documentation describes. */
export class PluginIndex {
  private constructor(
    private readonly server: Server,
    /** The public key of the publisher `acme`. */
    readonly key: string,
  ) {}

  static async open(): Promise<PluginIndex> {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-index-'));
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const [keyFile, archiveFile] = [join(folder, 'key.pem'), join(folder, 'load-check.tar')];
    writeFileSync(keyFile, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
    const args = ['--out', archiveFile, '--key', keyFile, '--publisher', 'acme'];
    const entry = execFileSync(
      process.execPath,
      [join(plugins, 'tools/pack.mjs'), join(plugins, 'examples/load-check'), ...args],
      { env: { ...process.env, NODE_OPTIONS: '' }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const index = JSON.stringify({ schemaVersion: 1, plugins: [JSON.parse(entry)] });
    const archive = readFileSync(archiveFile);
    rmSync(folder, { recursive: true });
    const server = createServer((request, response) => response.end(request.url === '/index.json' ? index : archive));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new PluginIndex(server, publicKey.export({ format: 'der', type: 'spki' }).toString('base64'));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/index.json`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
