import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyProof, type ProofCertificate } from '@headgate/domain-contracts';
import { ProofFiles } from './proof-files.js';
import { ProofKey } from './proof-key.js';

const TARGET = 'feed000000000001';
const pointOf = (number: number): string => String(number).padStart(64, '0');
const PICTURE = Buffer.from('a picture');

const certificateOf = (number: number, more: Partial<ProofCertificate> = {}): ProofCertificate => ({
  format: 1,
  kind: 'headgate-boot-proof',
  outcome: 'booted',
  ref: 'vm/lab/default/web',
  uid: 'uid-web',
  target: { id: TARGET, name: 'nightly' },
  point: { id: pointOf(number), time: '2026-01-01T00:00:00Z' },
  disks: [],
  verified: 'all',
  context: 'lab',
  startedAt: '2026-01-01T00:00:00Z',
  endedAt: new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString(),
  picture: { sha256: createHash('sha256').update(PICTURE).digest('hex'), sizeBytes: PICTURE.length },
  service: { version: '1' },
  ...more,
});

describe('the files of proofs', () => {
  let folder: string;
  let key: ProofKey;
  const proofs = (): string => join(folder, 'proofs');
  const open = (): ProofFiles => new ProofFiles(proofs(), { proofs: 3, pictures: 2 });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'proof-files-'));
    key = new ProofKey(join(folder, 'data', 'key.pem'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const put = async (files: ProofFiles, number: number, more: Partial<ProofCertificate> = {}): Promise<void> =>
    files.put({ document: await key.sign(certificateOf(number, more)), picture: PICTURE });

  test('are read again after a restart, and the last proof of a point counts', async () => {
    const files = open();
    await put(files, 1);
    await put(files, 1, { outcome: 'failed', reason: 'It did not boot.' });
    const again = open();
    const found = again.of(TARGET, pointOf(1));
    expect(found?.certificate.outcome).toBe('failed');
    expect(await verifyProof(found, await key.publicKey())).toMatchObject({ isValid: true });
    expect(await again.picture(TARGET, pointOf(1))).toEqual(PICTURE);
    expect(again.of(TARGET, pointOf(2))).toBeUndefined();
    expect(await again.picture(TARGET, pointOf(2))).toBeUndefined();
  });

  test('are bounded: the oldest go first, pictures before certificates', async () => {
    const files = open();
    for (const number of [3, 1, 4, 2, 5]) await put(files, number);
    const kept = [1, 2, 3, 4, 5].filter((number) => files.of(TARGET, pointOf(number)));
    expect(kept).toEqual([3, 4, 5]);
    expect(readdirSync(proofs()).filter((name) => name.endsWith('.png'))).toHaveLength(2);
    expect(readdirSync(proofs())).toHaveLength(5);
  });

  test('skip files of others and damaged ones, and no picture that was exchanged', async () => {
    const files = open();
    await put(files, 1);
    await put(files, 2);
    const [first = '', second = ''] = readdirSync(proofs()).filter((name) => name.endsWith('.json'));
    writeFileSync(join(proofs(), first), '{"certificate":');
    writeFileSync(join(proofs(), 'notes.txt'), 'mine');
    writeFileSync(join(proofs(), second.replace('json', 'png')), 'another picture');
    const again = open();
    expect([again.of(TARGET, pointOf(1)), await again.picture(TARGET, pointOf(2))]).toEqual([undefined, undefined]);
    expect(again.of(TARGET, pointOf(2))).toBeDefined();
    await put(again, 3);
    expect(readFileSync(join(proofs(), 'notes.txt'), 'utf8')).toBe('mine');
  });

  test('have one key, which only the service reads, and which is never replaced', async () => {
    const file = join(folder, 'data', 'key.pem');
    const [one, other] = [new ProofKey(file), new ProofKey(file)];
    const keys = await Promise.all([one.publicKey(), other.publicKey(), one.publicKey()]);
    expect(new Set(keys).size).toBe(1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'data'))).toEqual(['key.pem']);
    writeFileSync(file, 'damaged');
    await expect(new ProofKey(file).publicKey()).rejects.toThrow();
    expect(readFileSync(file, 'utf8')).toBe('damaged');
  });
});
