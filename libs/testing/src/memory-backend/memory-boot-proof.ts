import { createHash } from 'node:crypto';
import {
  BootProof,
  buildPlan,
  DomainError,
  messageOf,
  throwFirstRefusal,
  type BootOutcome,
  type BootPlan,
  type BootRequest,
  type BootSign,
  type BootSpec,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

const MEMORY_BYTES = 64 * 1024 ** 3;
const BLOCK_BYTES = 4096;
const COPY_BYTES = 1024 ** 2;
/** The shortest PNG: one transparent pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** Guests that read the first block of each disk, and then show what a test wants. */
export class MemoryBootProof extends BootProof {
  /** Undefined: the guest does not boot in time. */
  sign: BootSign | undefined = { kind: 'agent' };
  /** Whether all of the disks is read before the guest starts, as by a backend that copies them. */
  copies = false;
  /** The requests of all plans, and the specs of all boots. */
  readonly planned: BootRequest[] = [];
  readonly booted: BootSpec[] = [];
  readonly discarded: string[] = [];
  /** Runs while the guest boots. */
  whileBooting: () => void | Promise<void> = () => undefined;

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async plan(request: BootRequest): Promise<BootPlan> {
    this.engine.expectReachable();
    this.planned.push(request);
    const { vm } = request;
    const refusals =
      vm.memoryBytes > MEMORY_BYTES
        ? [{ code: 'WRONG_STATE', reason: 'The VM needs more memory than is free.', remedy: 'Stop a VM.' } as const]
        : [];
    const plan = buildPlan([{ name: 'boot', detail: 'Boot the backup without a network.' }], { refusals });
    return this.copies ? { ...plan, readsAll: true } : plan;
  }

  override async boot(spec: BootSpec, signal: AbortSignal): Promise<BootOutcome> {
    throwFirstRefusal(await this.plan(spec));
    signal.throwIfAborted();
    this.booted.push(spec);
    if (this.copies) return this.bootCopies(spec);
    let readBytes = 0;
    try {
      for (const { read, sizeBytes } of spec.disks)
        readBytes += (await read(0, Math.min(BLOCK_BYTES, sizeBytes))).length;
    } catch (error) {
      return { bootMs: 10, readBytes, problem: messageOf(error) };
    }
    await this.whileBooting();
    signal.throwIfAborted();
    const { sign } = this;
    if (!sign) {
      const late = new DomainError('BACKEND_TIMEOUT', `The guest did not boot in ${spec.timeLimitMs} ms.`);
      return { bootMs: spec.timeLimitMs, readBytes, problem: late.message, picture: PICTURE };
    }
    const problem =
      sign.kind === 'command' && sign.exitCode !== 0 ? `The command has exited with ${sign.exitCode}.` : undefined;
    return { bootMs: 1200, readBytes, sign, picture: PICTURE, ...(problem !== undefined && { problem }) };
  }

  /** How much the guest reads of its copies is unknown. */
  private async bootCopies({ disks, onCopied }: BootSpec): Promise<BootOutcome> {
    const sha256: string[] = [];
    const totalBytes = disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    let doneBytes = 0;
    try {
      for (const { read, sizeBytes } of disks) {
        const hash = createHash('sha256');
        for (let at = 0; at < sizeBytes; at += COPY_BYTES) {
          const part = await read(at, Math.min(COPY_BYTES, sizeBytes - at));
          hash.update(part);
          onCopied?.((doneBytes += part.length), totalBytes);
        }
        sha256.push(hash.digest('hex'));
      }
    } catch (error) {
      return { bootMs: 0, problem: messageOf(error) };
    }
    await this.whileBooting();
    const { sign } = this;
    return sign ? { bootMs: 1200, sign, sha256 } : { bootMs: 0, problem: 'The guest did not boot.', sha256 };
  }

  override async discard(id: string): Promise<void> {
    this.discarded.push(id);
  }
}
