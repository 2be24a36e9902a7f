import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock, type Backend, type InstanceRef, type VmSource } from '@headgate/domain-contracts';
import { PrivateIncusd, TINY_ALIAS, type BackendHarness, type IncusFlavor } from '@headgate/testing';
import { IncusBackend } from '../incus-backend.js';

const CONTEXT = 'lab';
const PROJECT = 'default';

/** The adapter over a daemon that belongs to the suite alone. Its instances are containers: VMs need nested KVM. */
export class IncusHarness implements BackendHarness {
  readonly containerImage = TINY_ALIAS;
  private names = 0;

  private constructor(
    readonly daemon: PrivateIncusd,
    readonly backend: Backend,
    private readonly folder: string,
  ) {}

  static async open(flavor: IncusFlavor): Promise<IncusHarness> {
    const daemon = await PrivateIncusd.start(flavor);
    const folder = await mkdtemp(join(tmpdir(), 'headgate-incus-'));
    return new IncusHarness(daemon, backendOf(CONTEXT, daemon.socket, folder), folder);
  }

  freshRef(): InstanceRef {
    return { kind: 'ct', context: CONTEXT, namespace: PROJECT, name: `box-${++this.names}` };
  }

  async givenVm(state: 'Stopped' | 'Running' | 'Paused'): Promise<InstanceRef> {
    const ref = this.freshRef();
    await this.daemon.run(state === 'Stopped' ? 'init' : 'launch', TINY_ALIAS, ref.name);
    if (state === 'Paused') await this.daemon.run('pause', ref.name);
    return ref;
  }

  async deleteExternally({ name }: InstanceRef): Promise<void> {
    await this.daemon.run('delete', '--force', name);
  }

  async quickSource(): Promise<VmSource> {
    throw new Error('The engine creates no VMs.');
  }

  async openUnreachable(): Promise<Backend> {
    return backendOf('gone', join(this.folder, 'none.socket'), this.folder);
  }

  async close(): Promise<void> {
    await this.backend.close();
    await this.daemon.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

const backendOf = (context: string, path: string, dataDir: string): IncusBackend =>
  IncusBackend.open({ context, target: { kind: 'socket', path }, dataDir, clock: new SystemClock() });
