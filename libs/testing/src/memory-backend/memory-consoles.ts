import { Duplex } from 'node:stream';
import {
  ConsoleSource,
  DomainError,
  isRunningStatus,
  type InstanceRef,
  type SerialLine,
  type Shell,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

/** A console that prints a greeting and then echoes its input. */
export class EchoConsole extends Duplex {
  constructor(greeting: string) {
    super();
    this.push(Buffer.from(greeting));
  }

  override _read(): void {}

  override _write(data: Buffer, _encoding: string, done: () => void): void {
    this.push(data);
    done();
  }
}

export class MemoryConsoles extends ConsoleSource {
  override readonly screenSharing = 'none';

  /** @param openScreen the graphical console of a running VM. Default: one that sends only RFB's first line */
  constructor(
    private readonly engine: MemoryEngine,
    private readonly openScreen: (ref: InstanceRef) => Duplex = () => new EchoConsole('RFB 003.008\n'),
  ) {
    super();
  }

  override async openVnc(ref: InstanceRef): Promise<Duplex> {
    this.expectRunning(ref);
    return this.openScreen(ref);
  }

  override async openSerial(ref: InstanceRef): Promise<SerialLine> {
    this.expectRunning(ref);
    return { stream: new EchoConsole('login: '), backlog: Buffer.from('booted\n') };
  }

  override async openShell(ref: InstanceRef): Promise<Shell> {
    if (ref.kind === 'vm') throw new DomainError('NOT_SUPPORTED', 'A VM has no shell: open its serial console.');
    const { phase } = this.engine.container(ref);
    if (phase !== 'Running') throw new DomainError('WRONG_STATE', `${ref.name} is not running.`);
    return { stream: new EchoConsole('# '), resize: () => undefined };
  }

  private expectRunning(ref: InstanceRef): void {
    if (!isRunningStatus(this.engine.vm(ref).status)) {
      throw new DomainError('WRONG_STATE', `${ref.name} is not running.`);
    }
  }
}
