import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSameRef, SystemClock, type Backend, type InstanceRef, type VmSource } from '@headgate/domain-contracts';
import { PrivateIncusd, TINY_ALIAS, type BackendHarness, type IncusFlavor } from '@headgate/testing';
import type { ServerTarget } from '../api/server-target.js';
import { IncusBackend, type IncusBackendOptions } from '../incus-backend.js';

const CONTEXT = 'lab';
const PROJECT = 'default';
const MEASURED_INTERVAL_MS = 250;

/** The adapter over a daemon that belongs to the suite alone. Its instances are containers: VMs need nested KVM. */
export class IncusHarness implements BackendHarness {
  readonly containerImage = TINY_ALIAS;
  private names = 0;
  private readonly clock = new SystemClock();

  private constructor(
    readonly daemon: PrivateIncusd,
    readonly backend: Backend,
    private readonly folder: string,
  ) {}

  /** @param options.listens whether the daemon can also be reached with `openRemote` */
  static async open(flavor: IncusFlavor, options: { readonly listens?: boolean } = {}): Promise<IncusHarness> {
    const daemon = await PrivateIncusd.start(flavor, options);
    const folder = await mkdtemp(join(tmpdir(), 'headgate-incus-'));
    const target: ServerTarget = { kind: 'socket', path: daemon.socket };
    return new IncusHarness(daemon, backendOf({ context: CONTEXT, target, dataDir: folder }), folder);
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

  givenVmWithDisk(): Promise<InstanceRef> {
    return this.givenVm('Stopped');
  }

  /** The daemon measures every 8 s. */
  async untilMeasured(ref: InstanceRef): Promise<void> {
    const metrics = this.backend.require('metrics');
    for (;;) {
      const { instances } = await metrics.read();
      if (instances.some((reading) => isSameRef(reading.ref, ref))) return;
      await this.clock.delay(MEASURED_INTERVAL_MS);
    }
  }

  async deleteExternally({ name }: InstanceRef): Promise<void> {
    await this.daemon.run('delete', '--force', name);
  }

  async quickSource(): Promise<VmSource> {
    throw new Error('The engine creates no VMs.');
  }

  async openUnreachable(): Promise<Backend> {
    const target: ServerTarget = { kind: 'socket', path: join(this.folder, 'none.socket') };
    return backendOf({ context: 'gone', target, dataDir: this.folder });
  }

  /** The same daemon over https. The caller closes it. */
  openRemote(trust: { readonly fingerprint?: string; readonly trustToken?: string }, project?: string): IncusBackend {
    const { port } = new URL(this.daemon.url);
    const target: ServerTarget = { kind: 'https', host: '127.0.0.1', port: Number(port), ...trust };
    return backendOf({ context: `remote-${++this.names}`, target, dataDir: this.folder, project });
  }

  async close(): Promise<void> {
    await this.backend.close();
    await this.daemon.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

const backendOf = (options: Omit<IncusBackendOptions, 'clock'>): IncusBackend =>
  IncusBackend.open({ ...options, clock: new SystemClock() });
