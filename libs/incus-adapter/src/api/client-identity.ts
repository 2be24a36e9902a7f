import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { IDENTITY_FILE } from './identity-file.js';
import { createSelfSignedCertificate, type KeyAndCertificate } from './self-signed-certificate.js';

export interface IdentityFiles {
  readonly certificate: string;
  readonly key: string;
}

/**
 * The certificate with which this service identifies itself to a server: that of the given files, or else one of its
 * own, which it creates once and keeps in its folder.
 */
export class ClientIdentity {
  private loading: Promise<KeyAndCertificate> | undefined;

  /** @param folder a private folder, which need not exist */
  constructor(
    private readonly folder: string,
    private readonly now: () => number,
    private readonly files?: IdentityFiles,
  ) {}

  /** @throws Error when a file can't be read or written */
  load(): Promise<KeyAndCertificate> {
    this.loading ??= (this.files ? read(this.files) : this.own()).catch((error: unknown) => {
      this.loading = undefined;
      throw error;
    });
    return this.loading;
  }

  private async own(): Promise<KeyAndCertificate> {
    // One file, so that a key never meets the certificate of another.
    const file = join(this.folder, IDENTITY_FILE);
    try {
      return JSON.parse(await readFile(file, 'utf8')) as KeyAndCertificate;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    const created = createSelfSignedCertificate('headgate', this.now());
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${randomUUID()}`;
    await writeFile(draft, JSON.stringify(created), { mode: 0o600, flush: true });
    await rename(draft, file);
    return created;
  }
}

const read = async ({ certificate, key }: IdentityFiles): Promise<KeyAndCertificate> => ({
  certificate: await readFile(certificate, 'utf8'),
  key: await readFile(key, 'utf8'),
});
