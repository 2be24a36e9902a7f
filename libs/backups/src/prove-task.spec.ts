import { createHash } from 'node:crypto';
import {
  DomainError,
  formatRef,
  ServiceShutdown,
  verifyProof,
  type BootProof,
  type DefinedTask,
  type ProofCertificate,
  type ProvedDisk,
  type SignedProof,
} from '@headgate/domain-contracts';
import { MemoryBootProof, recordingStepContext } from '@headgate/testing';
import { diskPath, MANIFEST_PATH } from './backup-point.js';
import { BackupTask, type BackedUp } from './backup-task.js';
import { ProvePoint } from './prove-point.js';
import { ProveTask, type ProveInput } from './prove-task.js';
import { BackingUp } from './testing/backing-up.js';
import { MemoryProofs, MemorySigner } from './testing/memory-proofs.js';

const TARGET = 'feed000000000001';
const CALLER = { login: 'ann', name: 'Ann' };

describe('a proof', () => {
  let backing: BackingUp;
  let proofs: MemoryProofs;
  let signer: MemorySigner;
  let boots: MemoryBootProof;
  let task: ProveTask;
  let input: ProveInput;

  beforeEach(async () => {
    backing = await BackingUp.open();
    const from = { ref: formatRef(backing.web), uid: 'uid-web', target: TARGET };
    const { point } = (await backing.run(new BackupTask(backing), from)) as BackedUp;
    proofs = new MemoryProofs();
    signer = new MemorySigner();
    boots = backing.lab.require('bootProof') as BootProof as MemoryBootProof;
    task = new ProveTask({ ...backing, proofs, signer, version: '1.2.3' });
    input = {
      id: '0b3a2d0e-0000-4000-8000-000000000001',
      target: TARGET,
      point,
      context: 'lab',
      timeLimitMs: 60_000,
      readAll: true,
    };
  });

  const prove = (more: Partial<ProveInput> = {}) => backing.run(task, { ...input, ...more });
  const files = (): Map<string, Buffer> => {
    const found = backing.stores.store.stored.find(({ id }) => id === input.point);
    if (!found) throw new Error('There is no point.');
    return found.files as Map<string, Buffer>;
  };
  const verdict = async (document: unknown = proofs.last) => verifyProof(document, await signer.publicKey());

  test('boots the disks of the point, and signs what it has seen', async () => {
    expect(await prove()).toMatchObject({ outcome: 'booted', bootMs: 1200 });
    expect(boots.booted).toMatchObject([{ id: input.id, disks: [{ name: 'vda', sizeBytes: backing.disk.length }] }]);
    const checked = await verdict();
    if (!checked.isValid) throw new Error(checked.reason);
    expect(checked.certificate).toMatchObject({
      outcome: 'booted',
      ref: formatRef(backing.web),
      uid: 'uid-web',
      target: { id: TARGET, name: 'nightly' },
      point: { id: input.point, tree: expect.stringMatching(/^[0-9a-f]{64}$/) },
      verified: 'all',
      seen: { kind: 'agent' },
      context: 'lab',
      service: { version: '1.2.3' },
    });
    const [disk] = checked.certificate.disks;
    expect(disk?.sha256).toBe(createHash('sha256').update(backing.disk).digest('hex'));
    expect(disk?.contentId).toMatch(/^[0-9a-f]{64}$/);
    const { picture } = proofs.stored[0] ?? {};
    const sha256 = createHash('sha256')
      .update(picture ?? '')
      .digest('hex');
    expect(checked.certificate.picture).toEqual({ sha256, sizeBytes: picture?.length });
    expect(backing.stores.store.readers).toBe(0);
  });

  test('says which parts were compared when it does not read everything', async () => {
    await prove({ readAll: false });
    const { certificate } = proofs.last;
    expect([certificate.outcome, certificate.verified, certificate.disks[0]?.sha256]).toEqual([
      'booted',
      'booted',
      undefined,
    ]);
  });

  test('of a backend that copies the disks has the hashes of the copy, and reads them once', async () => {
    boots.copies = true;
    const { openFile } = backing.stores.store;
    backing.stores.store.openFile = async (snapshot, path) => ({
      ...(await openFile.call(backing.stores.store, snapshot, path)),
      content: () => {
        throw new Error('All of it was read already.');
      },
    });
    await prove({ readAll: false });
    const { certificate } = proofs.last;
    expect([certificate.outcome, certificate.verified, certificate.readBytes]).toEqual(['booted', 'all', undefined]);
    expect(certificate.disks[0]?.sha256).toBe(createHash('sha256').update(backing.disk).digest('hex'));
    expect(boots.booted[0]).toMatchObject({ origin: backing.web, onCopied: expect.any(Function) });
    expect((await verdict()).isValid).toBe(true);

    boots.sign = undefined;
    await expect(prove()).rejects.toThrow('did not boot');
    expect(proofs.last.certificate).toMatchObject({ outcome: 'failed', verified: 'booted' });
    expect(proofs.last.certificate.disks[0]).not.toHaveProperty('sha256');
  });

  test.each<[string, () => void, RegExp]>([
    ['that shows no sign in time', () => (boots.sign = undefined), /did not boot/],
    ['whose command fails', () => (boots.sign = { kind: 'command', exitCode: 3, output: 'broken' }), /exited with 3/],
    ['without a disk', () => files().delete(diskPath('vda')), /no file/],
    ['with a damaged manifest', () => files().set(MANIFEST_PATH, Buffer.from('{')), /manifest/],
    ['with a disk of another size', () => files().set(diskPath('vda'), Buffer.alloc(512)), /512 bytes/],
  ])('of a point %s has a failed certificate, and fails', async (_name, damage, reason) => {
    damage();
    await expect(prove()).rejects.toMatchObject({ code: 'BACKEND_FAILED', message: expect.stringMatching(reason) });
    const checked = await verdict();
    if (!checked.isValid) throw new Error(checked.reason);
    expect(checked.certificate).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(reason) });
    expect(checked.certificate.disks.every(({ sha256 }) => sha256 === undefined)).toBe(true);
  });

  test('of a point with damage that the guest did not read has a failed certificate', async () => {
    const openFile = backing.stores.store.openFile.bind(backing.stores.store);
    backing.stores.store.openFile = async (snapshot, path) => ({
      ...(await openFile(snapshot, path)),
      content: async function* () {
        yield Buffer.alloc(512);
        throw new DomainError('BACKEND_FAILED', 'The backup target: blob 1234 is damaged.');
      },
    });
    await expect(prove()).rejects.toThrow('blob 1234');
    expect(proofs.last.certificate).toMatchObject({ outcome: 'failed', verified: 'booted' });
  });

  test.each([
    ['the host', () => boots, 'whileBooting'],
    ['the target', () => backing.stores, 'open'],
  ] as const)('says nothing about the backup when %s fails', async (_name, object, method) => {
    Object.assign(object(), {
      [method]: () => Promise.reject(new DomainError('BACKEND_UNREACHABLE', 'It does not answer.')),
    });
    await expect(prove()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect(proofs.stored).toEqual([]);
    expect(backing.stores.store.readers).toBe(0);
    expect(task.isProving(TARGET, input.point)).toBe(false);
  });

  test('that is canceled or interrupted has no certificate', async () => {
    for (const reason of [new Error('canceled'), new ServiceShutdown('stopping')]) {
      const cancel = new AbortController();
      boots.whileBooting = () => cancel.abort(reason);
      const [step] = task.steps();
      const context = { ...recordingStepContext(input), signal: cancel.signal };
      await expect(step?.run(context)).rejects.toBe(reason);
    }
    expect(proofs.stored).toEqual([]);
  });

  test('removes its guest after a restart and when it is rolled back', async () => {
    const journal = { task: 'proof', version: 1, caller: CALLER, input, steps: [] };
    const context = recordingStepContext(input);
    expect(await task.resume(journal, context)).toEqual({ action: 'continue' });
    await task.rollback(journal);
    expect(boots.discarded).toEqual([input.id, input.id]);
  });

  test('is planned, and not started for a point that is being booted', async () => {
    let started = 0;
    const defined: DefinedTask<ProveInput> = { start: async () => `proof-${++started}` };
    const change = new ProvePoint({ ...backing, definition: task, task: defined });
    const request = { target: TARGET, point: input.point, context: 'lab', timeLimitMs: 1000, readAll: true };
    const plan = await change.plan(request);
    expect(plan.steps.map(({ name }) => name)).toEqual(['boot', 'verify', 'certify']);
    let busy: Promise<unknown> = Promise.resolve();
    boots.whileBooting = async () => {
      busy = change.run(request, { ...CALLER } as never).catch((error: unknown) => error);
      await busy;
    };
    await prove();
    expect(await busy).toMatchObject({ code: 'BUSY' });
    expect(started).toBe(0);
  });

  test.each<[string, (proof: SignedProof) => unknown]>([
    [
      'another outcome',
      ({ certificate, signature }) => ({ certificate: { ...certificate, outcome: 'failed' }, signature }),
    ],
    [
      'another disk',
      ({ certificate, signature }) => {
        const [disk] = certificate.disks as [ProvedDisk];
        return { certificate: { ...certificate, disks: [{ ...disk, sizeBytes: disk.sizeBytes + 1 }] }, signature };
      },
    ],
    [
      'a field more',
      ({ certificate, signature }) => ({ certificate: { ...certificate, note: 'x' } as ProofCertificate, signature }),
    ],
    [
      'a flipped bit in the signature',
      ({ certificate, signature }) => {
        const value = Buffer.from(signature.value, 'base64');
        value[5] = (value[5] ?? 0) ^ 1;
        return { certificate, signature: { ...signature, value: value.toString('base64') } };
      },
    ],
    ['no signature', ({ certificate }) => ({ certificate })],
    ['nothing', () => null],
    [
      'a signature that is no text',
      ({ certificate }) => ({ certificate, signature: { algorithm: 'Ed25519', key: 1 } }),
    ],
  ])('has a certificate that is invalid with %s', async (_name, change) => {
    await prove();
    expect(await verdict()).toMatchObject({ isValid: true });
    const { certificate, signature } = JSON.parse(JSON.stringify(proofs.last)) as SignedProof;
    const reordered = Object.fromEntries(Object.entries(certificate).reverse());
    expect(await verdict({ signature, certificate: reordered })).toMatchObject({ isValid: true });
    expect(await verdict(change(proofs.last))).toMatchObject({ isValid: false });
  });

  test('has a certificate that another key does not vouch for', async () => {
    await prove();
    const other = await new MemorySigner().publicKey();
    expect(await verifyProof(proofs.last, other)).toEqual({ isValid: false, reason: 'It is signed with another key.' });
    const forged = await new MemorySigner().sign(proofs.last.certificate);
    expect(await verdict(forged)).toMatchObject({ isValid: false });
    expect(await verifyProof(forged)).toMatchObject({ isValid: true, key: forged.signature.key });
    const pem = `-----BEGIN PUBLIC KEY-----\n${await signer.publicKey()}\n-----END PUBLIC KEY-----\n`;
    expect(await verifyProof(proofs.last, pem)).toMatchObject({ isValid: true });
  });
});
