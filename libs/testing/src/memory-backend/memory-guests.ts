import {
  DomainError,
  GuestControl,
  GuestInspection,
  MAX_COMMAND_OUTPUT_BYTES,
  toGuestInfo,
  type GuestCommand,
  type GuestCommandResult,
  type GuestInfo,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

const ACCOUNT = 'root';
const GIB = 1024 ** 3;

/** @throws DomainError GUEST_AGENT_UNREACHABLE when the guest is not running */
function expectAgent(engine: MemoryEngine, ref: InstanceRef): void {
  if (engine.vm(ref).agentConnected) return;
  throw new DomainError('GUEST_AGENT_UNREACHABLE', `The guest agent of ${ref.name} does not answer.`);
}

/** Every running guest has an agent. */
export class MemoryGuestInspection extends GuestInspection {
  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async info(ref: InstanceRef): Promise<GuestInfo> {
    expectAgent(this.engine, ref);
    return toGuestInfo({
      os: {
        hostname: ref.name,
        id: 'memory',
        name: 'Memory OS',
        prettyName: 'Memory OS 1',
        version: '1',
        kernel: '1.0.0',
      },
      users: [{ name: ACCOUNT, loginMs: 0 }],
      filesystems: [{ disk: 'vda1', mountPoint: '/', type: 'ext4', usedBytes: GIB, totalBytes: 20 * GIB }],
    });
  }
}

/** Its guests have four programs and one account. */
export class MemoryGuestControl extends GuestControl {
  /** The passwords of the account by VM. */
  readonly passwords = new Map<string, string>();

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async setPassword(ref: InstanceRef, user: string, password: string): Promise<void> {
    expectAgent(this.engine, ref);
    if (user !== ACCOUNT) throw new DomainError('REJECTED_BY_BACKEND', `The guest has no account ${user}.`);
    this.passwords.set(ref.name, password);
  }

  override async run(ref: InstanceRef, { path, args, timeoutMs }: GuestCommand): Promise<GuestCommandResult> {
    expectAgent(this.engine, ref);
    switch (path) {
      case '/bin/echo':
        return result(`${args.join(' ')}\n`);
      case '/bin/false':
        return result('', 1);
      case '/usr/bin/seq':
        return result(Array.from({ length: Number(args[1]) }, (_none, index) => `${index + 1}\n`).join(''));
      case '/bin/sleep':
        throw new DomainError('BACKEND_TIMEOUT', `${path} still runs after ${timeoutMs} ms.`);
      default:
        throw new DomainError('REJECTED_BY_BACKEND', `The guest has no program ${path}.`);
    }
  }
}

const result = (output: string, exitCode = 0): GuestCommandResult => ({
  exitCode,
  stdout: output.slice(0, MAX_COMMAND_OUTPUT_BYTES),
  stderr: '',
  isTruncated: output.length > MAX_COMMAND_OUTPUT_BYTES,
});
