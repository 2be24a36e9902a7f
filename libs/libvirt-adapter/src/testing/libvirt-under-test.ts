import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SILENT_LOG, SystemClock, type InstanceRef } from '@headgate/domain-contracts';
import { DomainFinder } from '../domains/domain-finder.js';
import { LOCAL_NAMESPACE } from '../domains/instance-name.js';
import { LibvirtBackend, type LibvirtBackendOptions } from '../libvirt-backend.js';
import { parseDomainList } from '../virsh/virsh-domains.js';
import { WorkInProgress } from '../work-in-progress/work-in-progress.js';
import { BaseImageIndex } from '../storage/base-image-index.js';
import { BaseImages } from '../storage/base-images.js';
import { BaseReferences } from '../storage/base-references.js';
import { POOL_NAME, StoragePool } from '../storage/storage-pool.js';
import { VirshConnection } from '../virsh/virsh-connection.js';
import { Virsh } from '../virsh/virsh.js';

export const TEST_URI = process.env['HEADGATE_TEST_LIBVIRT_URI'] ?? 'qemu:///system';
const CONTEXT = 'local';

/**
 * The reason why the integration tests can't run on this machine; undefined if they can.
 * @throws Error if the worker has a libvirt of its own that does not respond: then tests must fail, not be skipped
 */
export async function whyLibvirtIsUnavailable(): Promise<string | undefined> {
  try {
    await new Virsh({ uri: TEST_URI }).run(['version'], { timeoutMs: 60_000 });
    return undefined;
  } catch (error) {
    if (process.env['HEADGATE_TEST_LIBVIRT'] === 'private') throw error;
    return (error as Error).message;
  }
}

/** The libvirt of this machine. Removes everything that a test created. */
export class LibvirtUnderTest {
  readonly virsh = new Virsh({ uri: TEST_URI });
  private readonly networks: string[] = [];
  private pool?: string;
  private readonly connection = new VirshConnection({ uri: TEST_URI });
  /** Prefix of the names of all test domains. */
  readonly prefix = `hgtest-${randomBytes(4).toString('hex')}`;
  private readonly backends: LibvirtBackend[] = [];
  private count = 0;

  private constructor(
    readonly dataDir: string,
    /** For disks that the service did not create; readable by QEMU's user. */
    readonly sharedDir: string,
  ) {}

  static async open(): Promise<LibvirtUnderTest> {
    const [dataDir, sharedDir] = [
      await mkdtemp(join(tmpdir(), 'hgtest-data-')),
      await mkdtemp(join(tmpdir(), 'hgtest-disks-')),
    ];
    await chmod(sharedDir, 0o755);
    return new LibvirtUnderTest(dataDir, sharedDir);
  }

  backend(options: Partial<LibvirtBackendOptions> = {}): LibvirtBackend {
    const backend = LibvirtBackend.open({
      context: CONTEXT,
      uri: TEST_URI,
      dataDir: this.dataDir,
      clock: new SystemClock(),
      accelerator: () => Promise.resolve('tcg'),
      // The tests download from their own servers.
      importAllow: ['127.0.0.0/8'],
      ...options,
    });
    this.backends.push(backend);
    return backend;
  }

  freshName(): string {
    return `${this.prefix}-${++this.count}`;
  }

  refOf(name: string): InstanceRef {
    return { kind: 'vm', context: CONTEXT, namespace: LOCAL_NAMESPACE, name };
  }

  define(xml: string): Promise<string> {
    return this.virsh.withXml(xml, (file) => ['define', file]);
  }

  /** Creates a named pipe, which blocks its readers. */
  async makePipe(path: string): Promise<void> {
    await promisify(execFile)('mkfifo', [path]);
  }

  async domains(): Promise<string[]> {
    return parseDomainList(await this.virsh.run(['list', '--all', '--uuid', '--name']))
      .map(({ name }) => name)
      .filter((name) => name.startsWith(this.prefix));
  }

  /** Names of the volumes that the adapter created for domains of this test. */
  async volumes(): Promise<string[]> {
    const names = await new StoragePool(this.connection, POOL_NAME, '').volumes();
    return names.filter((name) => name.startsWith(this.prefix));
  }

  /** Names of the base images of the service under test. */
  async baseImages(): Promise<string[]> {
    const own = this.bases();
    const prefix = own.nameOf('', 'raw').split('-', 2).join('-');
    const names = await new StoragePool(this.connection, POOL_NAME, '').volumes();
    return names.filter((name) => name.startsWith(`${prefix}-`));
  }

  /** Removes the base images of the service under test that are not in use. */
  reclaim(): Promise<number> {
    return this.bases().reclaim();
  }

  private bases(): BaseImages {
    const folder = join(this.dataDir, 'libvirt', CONTEXT);
    const service = new WorkInProgress(folder);
    return new BaseImages({
      pool: new StoragePool(this.connection, POOL_NAME, ''),
      index: new BaseImageIndex(join(folder, 'base-images.json')),
      references: new BaseReferences(this.connection, new DomainFinder(CONTEXT, this.connection)),
      service: () => service.mark(),
      clock: new SystemClock(),
      log: SILENT_LOG,
      watermarkBytes: 0,
    });
  }

  /** Two active networks without a connection to anything else. */
  async createNetworks(): Promise<readonly [string, string]> {
    const names = ['a', 'b'].map((letter) => `${this.prefix}-net-${letter}`) as [string, string];
    for (const name of names) {
      // The name of a bridge has at most 15 characters.
      const bridge = `hg${randomBytes(4).toString('hex')}`;
      const xml = `<network><name>${name}</name><bridge name='${bridge}'/></network>`;
      await this.virsh.withXml(xml, (file) => ['net-define', file]);
      this.networks.push(name);
      await this.virsh.run(['net-start', name]);
    }
    return names;
  }

  /** A second storage pool, in a folder that QEMU's user can read. */
  async createPool(): Promise<string> {
    if (this.pool !== undefined) return this.pool;
    const name = `${this.prefix}-pool`;
    const folder = join(this.sharedDir, 'pool');
    await mkdir(folder, { mode: 0o755 });
    await this.virsh.run(['pool-define-as', name, 'dir', '--target', folder]);
    this.pool = name;
    await this.virsh.run(['pool-start', name]);
    return name;
  }

  /** Names of the volumes in the second pool. */
  async poolVolumes(): Promise<string[]> {
    return this.connection.storage.volumes(this.pool ?? '');
  }

  async removeDomains(): Promise<void> {
    for (const name of await this.domains()) {
      await this.virsh.run(['destroy', name]).catch(() => undefined);
      await this.virsh
        .run(['undefine', name, '--nvram', '--managed-save', '--snapshots-metadata', '--checkpoints-metadata'])
        .catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.backends.map((backend) => backend.close()));
    await this.removeDomains();
    for (const name of await this.volumes().catch(() => []))
      await this.virsh.run(['vol-delete', name, '--pool', POOL_NAME]);
    for (const name of this.networks) {
      await this.virsh.run(['net-destroy', name]).catch(() => undefined);
      await this.virsh.run(['net-undefine', name]);
    }
    if (this.pool !== undefined) {
      await this.virsh.run(['pool-destroy', this.pool]).catch(() => undefined);
      await this.virsh.run(['pool-undefine', this.pool]);
    }
    await this.reclaim().catch(() => 0);
    await rm(this.dataDir, { recursive: true, force: true });
    await rm(this.sharedDir, { recursive: true, force: true });
  }
}
