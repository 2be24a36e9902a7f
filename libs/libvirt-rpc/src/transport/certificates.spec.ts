import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readCertificates } from './certificates.js';

const SYSTEM = ['etc/CA/cacert.pem', 'etc/libvirt/clientcert.pem', 'etc/libvirt/private/clientkey.pem'];
const USER = ['cacert.pem', 'clientcert.pem', 'clientkey.pem'].map((name) => `home/.pki/libvirt/${name}`);

describe('readCertificates', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgrpc-pki-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Each file contains its own path. */
  const read = async (files: readonly string[], isRoot = false): Promise<string[]> => {
    for (const file of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), file);
    }
    const { ca, cert, key } = await readCertificates({
      home: join(folder, 'home'),
      system: join(folder, 'etc'),
      isRoot,
    });
    return [ca, cert, key].flatMap((file) => file?.toString() ?? []);
  };

  test('prefers those of the user to those of the system', async () => {
    expect(await read([...SYSTEM, ...USER])).toEqual(USER);
  });

  test('uses those of the system where the user has none', async () => {
    expect(await read(SYSTEM)).toEqual(SYSTEM);
  });

  test('uses those of the system for root', async () => {
    expect(await read([...SYSTEM, ...USER], true)).toEqual(SYSTEM);
  });

  test('never mixes the certificate of the user with the key of the system', async () => {
    expect(await read([...SYSTEM, 'home/.pki/libvirt/clientcert.pem'])).toEqual(SYSTEM);
  });

  test('does without a certificate of its own, which a daemon may accept', async () => {
    expect(await read(['etc/CA/cacert.pem'])).toEqual(['etc/CA/cacert.pem']);
  });

  test('refuses to trust any daemon without an authority', async () => {
    await expect(read([])).rejects.toMatchObject({
      failure: 'unreachable',
      message: `TLS: the file ${join(folder, 'etc/CA/cacert.pem')} can't be read`,
    });
  });
});
