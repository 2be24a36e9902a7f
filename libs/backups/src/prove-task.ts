import { createHash } from 'node:crypto';
import {
  DomainError,
  formatBytes,
  messageOf,
  type BackendDirectory,
  type BackupTargetStore,
  type BootOutcome,
  type BootSpec,
  type Clock,
  type ProofCertificate,
  type ProvedDisk,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskDefinition,
  type TaskJournal,
} from '@headgate/domain-contracts';
import { diskPath, originOf, VARIABLES_PATH, type BackupPoint } from './backup-point.js';
import type { BackupStore, BackupStores } from './backup-store.js';
import { findPoint, findTarget } from './find-target.js';
import type { Manifest } from './manifest.js';
import type { ProofSigner, ProofStore } from './proof-store.js';
import { readManifest } from './restored-vm.js';
import { openDisk, wrongSize, type StoredDisk } from './stored-disk.js';

/** The journaled input. Without secrets. */
export interface ProveInput {
  /** A UUID that identifies the guest. */
  readonly id: string;
  readonly target: string;
  readonly point: string;
  /** The context that boots it. */
  readonly context: string;
  readonly command?: BootSpec['command'];
  readonly timeLimitMs: number;
  /** Whether all of the disks is read, and not only the parts that the guest needs to boot. */
  readonly readAll: boolean;
}

export interface ProveTaskDeps {
  readonly targets: BackupTargetStore;
  readonly stores: BackupStores;
  readonly backends: BackendDirectory;
  readonly proofs: ProofStore;
  readonly signer: ProofSigner;
  readonly clock: Clock;
  /** Of the service. */
  readonly version: string;
}

/** The result of the task. */
export interface Proved {
  readonly outcome: ProofCertificate['outcome'];
  readonly bootMs?: number;
  readonly readBytes?: number;
}

/** The certificate that is being filled. */
type Draft = { -readonly [K in keyof ProofCertificate]: ProofCertificate[K] };

interface OpenedPoint {
  readonly manifest: Manifest;
  readonly disks: readonly StoredDisk[];
  readonly variables?: Buffer;
}

const STALL_MS = 90 * 60_000;

/** Boots a point, reads all of it, and stores a signed certificate. The task fails if the point does not boot. */
export class ProveTask implements TaskDefinition<ProveInput> {
  readonly kind = 'prove-backup';
  private readonly running = new Set<string>();

  constructor(private readonly deps: ProveTaskDeps) {}

  steps(): readonly StepDefinition<ProveInput>[] {
    return [
      {
        name: 'prove',
        isCancelable: true,
        stallMs: STALL_MS,
        waitsFor: 'the backup to boot',
        ifStalled: 'The guest of the proof is removed at the next start of the service.',
        run: (context) => this.prove(context),
      },
    ];
  }

  /** Whether the point is being booted. */
  isProving(target: string, point: string): boolean {
    return this.running.has(keyOf(target, point));
  }

  async resume({ input }: TaskJournal<ProveInput>, { log }: TaskContext): Promise<Resumption> {
    await this.discard(input);
    log('The proof begins again after a restart.');
    return { action: 'continue' };
  }

  rollback({ input }: TaskJournal<ProveInput>): Promise<void> {
    return this.discard(input);
  }

  /** Removes what an interrupted proof has left. */
  async discard(input: ProveInput): Promise<void> {
    await this.ability(input).discard(input.id);
  }

  result({ steps }: TaskJournal<ProveInput>): object | undefined {
    return steps[0]?.result as Proved | undefined;
  }

  private ability({ context }: ProveInput) {
    return this.deps.backends.get(context).require('bootProof');
  }

  /** @throws DomainError BACKEND_FAILED if the point does not boot, after its certificate was stored */
  async prove(context: StepContext<ProveInput>): Promise<Proved> {
    const { target: id, point: pointId } = context.input;
    if (this.isProving(id, pointId)) throw new DomainError('BUSY', 'The backup is being booted already.');
    this.running.add(keyOf(id, pointId));
    try {
      const target = findTarget(this.deps.targets, id);
      const store = await this.deps.stores.open(target);
      const lock = await store.lockForReading();
      try {
        const point = await findPoint(store, pointId);
        const draft = this.draftOf(context.input, target.name, point);
        return await this.certify(context, { store, draft, lost: lock.signal });
      } finally {
        await lock.release();
      }
    } finally {
      this.running.delete(keyOf(id, pointId));
    }
  }

  private draftOf({ target, context }: ProveInput, targetName: string, point: BackupPoint): Draft {
    const now = this.deps.clock.iso();
    return {
      format: 1,
      kind: 'headgate-boot-proof',
      outcome: 'booted',
      ref: point.ref,
      uid: point.uid,
      target: { id: target, name: targetName },
      point: { id: point.id, time: point.time },
      disks: [],
      verified: 'booted',
      context,
      startedAt: now,
      endedAt: now,
      service: { version: this.deps.version },
    };
  }

  private async certify(
    context: StepContext<ProveInput>,
    { store, draft, lost }: { readonly store: BackupStore; readonly draft: Draft; readonly lost: AbortSignal },
  ): Promise<Proved> {
    const { proofs, signer, clock } = this.deps;
    const { input, log, bytes } = context;
    const signal = AbortSignal.any([context.signal, lost]);
    const problem = (error: unknown): string => {
      signal.throwIfAborted();
      // Other errors say nothing about the backup.
      if (!DomainError.is(error, 'BACKEND_FAILED', 'BACKUP_POINT_NOT_FOUND')) throw error;
      return messageOf(error);
    };
    let outcome: BootOutcome | undefined;
    let reason: string | undefined;
    const opened = await this.open(store, input, draft).catch((error: unknown) => void (reason = problem(error)));
    if (opened) {
      outcome = await this.ability(input).boot(
        { ...bootSpecOf(input, opened), ...originOf(draft), onCopied: bytes },
        signal,
      );
      reason = outcome.problem;
      log(reason ?? `The guest was up after ${(outcome.bootMs / 1000).toFixed(1)} s: ${signOf(outcome)}.`);
      if (reason === undefined && outcome.sha256) draft.disks = withHashes(draft.disks, outcome.sha256);
      else if (reason === undefined && input.readAll)
        draft.disks = await this.verify(context, opened, draft, signal).catch((error: unknown) => {
          reason = problem(error);
          return draft.disks;
        });
    }
    const { picture, sign, bootMs, readBytes } = outcome ?? {};
    const certificate: ProofCertificate = {
      ...draft,
      outcome: reason === undefined ? 'booted' : 'failed',
      ...(reason !== undefined && { reason }),
      verified: reason === undefined && (input.readAll || outcome?.sha256) ? 'all' : 'booted',
      ...(sign && { seen: sign }),
      ...(bootMs !== undefined && { bootMs: Math.round(bootMs) }),
      ...(readBytes !== undefined && { readBytes }),
      endedAt: clock.iso(),
      ...(picture && { picture: { sha256: sha256(picture), sizeBytes: picture.length } }),
    };
    await proofs.put({ document: await signer.sign(certificate), ...(picture && { picture }) });
    if (reason !== undefined) throw new DomainError('BACKEND_FAILED', `The backup has not passed its proof: ${reason}`);
    return {
      outcome: 'booted',
      ...(bootMs !== undefined && { bootMs }),
      ...(readBytes !== undefined && { readBytes }),
    };
  }

  /** Adds the hashes to the draft. */
  private async open(store: BackupStore, { point }: ProveInput, draft: Draft): Promise<OpenedPoint> {
    const { tree, files } = await store.identify(point);
    draft.point = { ...draft.point, tree };
    const manifest = await readManifest(store, point);
    const disks: StoredDisk[] = [];
    for (const { name, sizeBytes } of manifest.vm.disks) {
      const disk = await openDisk(store, point, { name, sizeBytes });
      const contentId = files.find(({ path }) => path === diskPath(name))?.contentId;
      if (contentId === undefined) throw wrongSize(name, sizeBytes);
      draft.disks = [...draft.disks, { name, sizeBytes, contentId }];
      disks.push(disk);
    }
    if (!manifest.hasFirmwareVariables) return { manifest, disks };
    const variables = await store.openFile(point, VARIABLES_PATH);
    return { manifest, disks, variables: await variables.read(0, variables.sizeBytes) };
  }

  private async verify(
    { bytes, log }: StepContext<ProveInput>,
    { disks }: OpenedPoint,
    draft: Draft,
    signal: AbortSignal,
  ): Promise<readonly ProvedDisk[]> {
    const totalBytes = disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const verified: ProvedDisk[] = [];
    let doneBytes = 0;
    for (const [index, { content }] of disks.entries()) {
      const hash = createHash('sha256');
      for await (const part of content(signal)) {
        hash.update(part);
        doneBytes += part.length;
        bytes(doneBytes, totalBytes);
      }
      const disk = draft.disks[index];
      if (disk) verified.push({ ...disk, sha256: hash.digest('hex') });
    }
    log(`All ${formatBytes(totalBytes)} of the disks were read, and are intact.`);
    return verified;
  }
}

const keyOf = (target: string, point: string): string => `${target}/${point}`;

/** Each disk was read before the guest was started, and its blocks have matched their hashes. */
const withHashes = (disks: readonly ProvedDisk[], sha256: readonly string[]): readonly ProvedDisk[] =>
  disks.map((disk, index) => {
    const hash = sha256[index];
    return hash === undefined ? disk : { ...disk, sha256: hash };
  });

const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

function bootSpecOf({ id, command, timeLimitMs }: ProveInput, { manifest, disks, variables }: OpenedPoint): BootSpec {
  // The guest has read it, or never will: its seed is no part of the backup.
  const { cloudInit: _seed, ...vm } = manifest.vm;
  return {
    id,
    vm,
    disks,
    timeLimitMs,
    ...(variables && { firmwareVariables: variables }),
    ...(command && { command }),
  };
}

const signOf = ({ sign }: BootOutcome): string =>
  sign?.kind === 'agent'
    ? 'its agent has answered'
    : sign?.kind === 'prompt'
      ? 'it shows a login prompt'
      : 'the command has exited with 0';
