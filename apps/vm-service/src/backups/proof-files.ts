import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ProofStore, type NewProof } from '@headgate/backups';
import type { SignedProof } from '@headgate/domain-contracts';

const NAME = /^([0-9a-f]{16})-([0-9a-f]{64})\.json$/;
const MAX_PROOFS = 1000;
const MAX_PICTURES = 100;
const MAX_PICTURE_BYTES = 4 * 1024 ** 2;

/** Certificates as files in the data folder, with the pictures of the newest ones next to them. */
export class ProofFiles extends ProofStore {
  private loaded?: Map<string, SignedProof>;
  private writing: Promise<void> = Promise.resolve();

  /** @param folder private to this store */
  constructor(
    private readonly folder: string,
    private readonly limits = { proofs: MAX_PROOFS, pictures: MAX_PICTURES },
  ) {
    super();
  }

  override of(target: string, point: string): SignedProof | undefined {
    return this.proofs.get(keyOf(target, point));
  }

  override put(proof: NewProof): Promise<void> {
    const written = this.writing.then(() => this.write(proof));
    this.writing = written.catch(() => undefined);
    return written;
  }

  override async picture(target: string, point: string): Promise<Buffer | undefined> {
    const expected = this.of(target, point)?.certificate.picture?.sha256;
    if (expected === undefined) return undefined;
    const picture = await readFile(this.pictureOf(keyOf(target, point))).catch(() => undefined);
    const isRight = picture && createHash('sha256').update(picture).digest('hex') === expected;
    return isRight ? picture : undefined;
  }

  private async write({ document, picture }: NewProof): Promise<void> {
    const { target, point } = document.certificate;
    const key = keyOf(target.id, point.id);
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await rm(this.pictureOf(key), { force: true });
    await replace(join(this.folder, `${key}.json`), `${JSON.stringify(document, undefined, 2)}\n`);
    if (picture && picture.length <= MAX_PICTURE_BYTES) await replace(this.pictureOf(key), picture);
    this.proofs.set(key, document);
    const newest = [...this.proofs].sort(([, a], [, b]) => timeOf(b) - timeOf(a)).map(([one]) => one);
    for (const old of newest.slice(this.limits.pictures)) await rm(this.pictureOf(old), { force: true });
    for (const old of newest.slice(this.limits.proofs)) {
      await rm(join(this.folder, `${old}.json`), { force: true });
      this.proofs.delete(old);
    }
  }

  /** Files that are no certificates are left alone. */
  private get proofs(): Map<string, SignedProof> {
    if (this.loaded) return this.loaded;
    this.loaded = new Map();
    for (const name of this.names()) {
      const [, target = '', point = ''] = NAME.exec(name) ?? [];
      if (target === '') continue;
      try {
        const document = JSON.parse(readFileSync(join(this.folder, name), 'utf8')) as SignedProof;
        const { certificate } = document;
        const isOf = certificate.target.id === target && certificate.point.id === point;
        if (isOf && Number.isFinite(timeOf(document))) this.loaded.set(keyOf(target, point), document);
      } catch {
        // The next proof of the point writes it again.
      }
    }
    return this.loaded;
  }

  private names(): readonly string[] {
    try {
      return readdirSync(this.folder);
    } catch {
      return [];
    }
  }

  private pictureOf(key: string): string {
    return join(this.folder, `${key}.png`);
  }
}

const keyOf = (target: string, point: string): string => `${target}-${point}`;

const timeOf = ({ certificate }: SignedProof): number => Date.parse(certificate.endedAt);

/** A reader sees the former file or the new one. */
async function replace(file: string, content: string | Buffer): Promise<void> {
  await writeFile(`${file}.new`, content, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}
