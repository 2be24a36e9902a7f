import {
  BootProof,
  buildPlan,
  DomainError,
  messageOf,
  throwFirstRefusal,
  type BootOutcome,
  type BootRequest,
  type BootSign,
  type BootSpec,
  type Plan,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

const MEMORY_BYTES = 64 * 1024 ** 3;
const BLOCK_BYTES = 4096;
/** The shortest PNG: one transparent pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** Guests that read the first block of each disk, and then show what a test wants. */
export class MemoryBootProof extends BootProof {
  /** Undefined: the guest does not boot in time. */
  sign: BootSign | undefined = { kind: 'agent' };
  /** The specs of all boots. */
  readonly booted: BootSpec[] = [];
  readonly discarded: string[] = [];
  /** Runs while the guest boots. */
  whileBooting: () => void | Promise<void> = () => undefined;

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async plan({ vm }: BootRequest): Promise<Plan> {
    this.engine.expectReachable();
    const refusals =
      vm.memoryBytes > MEMORY_BYTES
        ? [{ code: 'WRONG_STATE', reason: 'The VM needs more memory than is free.', remedy: 'Stop a VM.' } as const]
        : [];
    return buildPlan([{ name: 'boot', detail: 'Boot the backup without a network.' }], { refusals });
  }

  override async boot(spec: BootSpec, signal: AbortSignal): Promise<BootOutcome> {
    throwFirstRefusal(await this.plan(spec));
    signal.throwIfAborted();
    this.booted.push(spec);
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

  override async discard(id: string): Promise<void> {
    this.discarded.push(id);
  }
}
