import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cli } from '../testing/run-cli.js';

const PICTURE = Buffer.from('a picture');
/** With its keys in order, so that the text is the signed one. */
const CERTIFICATE = {
  bootMs: 1200,
  context: 'lab',
  disks: [{ contentId: 'c0', name: 'vda', sizeBytes: 512 }],
  endedAt: '2026-01-01T00:00:05.000Z',
  format: 1,
  kind: 'headgate-boot-proof',
  outcome: 'booted',
  picture: { sha256: createHash('sha256').update(PICTURE).digest('hex'), sizeBytes: PICTURE.length },
  point: { id: 'f'.repeat(64), time: '2026-01-01T00:00:00.000Z' },
  ref: 'vm/lab/default/web',
  startedAt: '2026-01-01T00:00:00.000Z',
  target: { id: 'feed000000000001', name: 'nightly' },
  uid: 'uid-web',
  verified: 'all',
};

describe('headgate proof verify', () => {
  let folder: string;
  let cli: Cli;
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cli-proof-'));
    // Nothing listens there: the program does not need the service.
    cli = new Cli({ HEADGATE_SERVER: 'http://127.0.0.1:9' });
  });
  afterEach(() => {
    cli.remove();
    rmSync(folder, { recursive: true });
  });

  const write = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const signed = (certificate: object = CERTIFICATE): string => {
    const message = Buffer.from(`headgate-boot-proof-1\n${JSON.stringify(certificate)}`);
    const value = sign(null, message, privateKey).toString('base64');
    return JSON.stringify({ certificate, signature: { algorithm: 'Ed25519', key, value } }, null, 2);
  };

  test.each([
    ['the answer of the service', JSON.stringify({ algorithm: 'Ed25519', key })],
    ['PEM', publicKey.export({ type: 'spki', format: 'pem' }).toString()],
    ['base64', `${key}\n`],
  ])('accepts a certificate with the key of the service as %s', async (_name, text) => {
    const args = ['--key', write('key', text), '--picture', write('picture.png', PICTURE)];
    const { code, stdout } = await cli.run(['proof', 'verify', write('proof.json', signed()), ...args]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Certificate: valid\n/)]);
  });

  test('says that it did not compare the key', async () => {
    const { code, stdout } = await cli.run(['proof', 'verify', write('proof.json', signed())]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('its key was not compared')]);
  });

  test('refuses a flipped bit, another key, another picture, and a failed boot', async () => {
    const verify = async (text: string, ...args: string[]): Promise<[number, string]> => {
      const { code, stderr } = await cli.run(['proof', 'verify', write('proof.json', text), ...args]);
      return [code, stderr];
    };
    expect(await verify(signed().replace('uid-web', 'uid-wec'))).toEqual([1, expect.stringContaining('changed')]);
    const { publicKey: other } = generateKeyPairSync('ed25519');
    const pem = write('other.pem', other.export({ type: 'spki', format: 'pem' }).toString());
    expect(await verify(signed(), '--key', pem)).toEqual([1, expect.stringContaining('another key')]);
    const picture = write('other.png', 'another picture');
    expect(await verify(signed(), '--picture', picture)).toEqual([1, expect.stringContaining('picture')]);
    const failed = { ...CERTIFICATE, outcome: 'failed' };
    expect(await verify(signed(failed))).toEqual([1, expect.stringContaining('has not booted')]);
    expect((await verify('no JSON'))[0]).toBe(2);
    expect((await cli.run(['proof', 'verify', join(folder, 'none')])).code).toBe(2);
  });
});
