import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ProofSigner } from '@headgate/backups';

/** The Ed25519 key of this installation, in a file that only the service reads. Created when it is first needed. */
export class ProofKey extends ProofSigner {
  private loading?: Promise<KeyObject>;

  constructor(private readonly file: string) {
    super();
  }

  override async publicKey(): Promise<string> {
    return createPublicKey(await this.load())
      .export({ type: 'spki', format: 'der' })
      .toString('base64');
  }

  override async signatureOf(message: Uint8Array): Promise<string> {
    return sign(null, message, await this.load()).toString('base64');
  }

  /** @throws Error when the file can't be read, created or used: a key that exists is never replaced */
  private load(): Promise<KeyObject> {
    this.loading ??= this.readOrCreate().catch((error: unknown) => {
      this.loading = undefined;
      throw error;
    });
    return this.loading;
  }

  private async readOrCreate(): Promise<KeyObject> {
    const found = await this.read();
    if (found) return found;
    const { privateKey } = generateKeyPairSync('ed25519');
    const draft = `${this.file}.${randomUUID()}`;
    await mkdir(dirname(this.file), { recursive: true, mode: 0o700 });
    await writeFile(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flush: true });
    try {
      // Unlike a rename, it does not take the place of a key that appears meanwhile.
      await link(draft, this.file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      await rm(draft, { force: true });
    }
    return (await this.read()) ?? privateKey;
  }

  private async read(): Promise<KeyObject | undefined> {
    try {
      const key = createPrivateKey(await readFile(this.file));
      if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${this.file} has no Ed25519 key.`);
      return key;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}
