import { Diagnostics, DomainError, formatBytes, messageOf, type DiagnosticCheck } from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { Accelerator } from '../host/host.js';
import { hasUserNetworking, OWN_NETWORK, type GuestNetwork } from '../network/guest-network.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { MigrationTransport } from '../migration/migration-host.js';
import { CHECK_TITLES } from './check-titles.js';
import { isVirtlogdListening } from './virtlogd-socket.js';

export interface LibvirtDiagnosticsDeps {
  readonly connection: LibvirtConnection;
  readonly pool: StoragePool;
  readonly network: GuestNetwork;
  readonly finder: DomainFinder;
  readonly accelerator: () => Promise<Accelerator>;
  readonly findDiscWriter: () => Promise<string | undefined>;
  readonly isRemote: boolean;
  readonly migrationTransport?: MigrationTransport | undefined;
}

type Finding = Pick<DiagnosticCheck, 'status' | 'message'> & Partial<DiagnosticCheck>;

interface Check {
  readonly name: string;
  find(): Promise<Finding>;
  fix?(): Promise<unknown>;
}

/** With less free space than this in the pool, the next VM may not fit. */
const LOW_SPACE_BYTES = 5 * 1024 ** 3;

export class LibvirtDiagnostics extends Diagnostics {
  constructor(private readonly deps: LibvirtDiagnosticsDeps) {
    super();
  }

  override checks(): Promise<readonly DiagnosticCheck[]> {
    return Promise.all(this.all().map(run));
  }

  override async fix(names?: readonly string[]): Promise<readonly string[]> {
    const fixed: string[] = [];
    for (const check of this.all()) {
      if (!check.fix || names?.includes(check.name) === false || !(await run(check)).fixable) continue;
      // The check that runs next decides whether the fix worked.
      await check.fix().catch(() => undefined);
      if ((await run(check)).status === 'ok') fixed.push(check.name);
    }
    return fixed;
  }

  private all(): Check[] {
    const { pool } = this.deps;
    return [
      { name: 'libvirt', find: () => this.libvirt() },
      { name: 'qemu', find: () => this.qemu() },
      { name: 'acceleration', find: () => this.acceleration() },
      { name: 'storage-pool', find: () => this.storage(), fix: () => pool.ensure() },
      { name: 'network', find: () => this.network(), fix: () => this.deps.network.ensure() },
      { name: 'guest-isolation', find: () => this.guestIsolation() },
      { name: 'disc-writer', find: () => this.discWriter() },
      ...(this.deps.migrationTransport === 'insecure' ? [{ name: 'migration', find: insecureMigration }] : []),
      ...(this.deps.isRemote ? [] : [{ name: 'virtlogd', find: () => this.virtlogd() }]),
    ];
  }

  private async libvirt(): Promise<Finding> {
    const { connection } = this.deps;
    const version = await connection.host.version({ timeoutMs: 10_000 });
    return { status: 'ok', message: `${version} responds ${connection.describeTransport()}.` };
  }

  private async qemu(): Promise<Finding> {
    const capabilities = await this.deps.connection.host.domainCapabilities(undefined, { timeoutMs: 20_000 });
    return { status: 'ok', message: `${/<path>([^<]+)<\/path>/.exec(capabilities)?.[1] ?? 'QEMU'} runs guests.` };
  }

  private async acceleration(): Promise<Finding> {
    if ((await this.deps.accelerator()) === 'kvm')
      return { status: 'ok', message: 'KVM is available: VMs run with hardware acceleration.' };
    return {
      status: 'warning',
      message: "KVM can't run a guest on this machine, so VMs use software emulation, which is slow.",
      remedy:
        'Enable virtualization in the firmware, load the kvm module or, inside a virtual machine, enable nested virtualization.',
    };
  }

  private async storage(): Promise<Finding> {
    const { pool } = this.deps;
    const state = await pool.state();
    if (!state)
      return {
        status: 'warning',
        message: `The storage pool ${pool.name} does not exist yet. It is created with the first VM.`,
        fixable: true,
        remedy: 'Run the fix to create it now.',
      };
    if (!state.isActive)
      return {
        status: 'error',
        message: `The storage pool ${pool.name} is not active.`,
        fixable: true,
        remedy: 'Run the fix to start it.',
      };
    const { availableBytes } = (await pool.space()) ?? state;
    const free = `The storage pool ${pool.name} has ${formatBytes(availableBytes)} free`;
    if (availableBytes >= LOW_SPACE_BYTES) return { status: 'ok', message: `${free}.` };
    if (availableBytes < SPACE_WATERMARK_BYTES)
      return {
        status: 'error',
        message: `${free}. Snapshots, clones, images and disks that come here are refused, and a guest that writes to a full disk is paused.`,
        remedy: 'Delete VMs, snapshots or files, or add disk space to this machine.',
      };
    return {
      status: 'warning',
      message: `${free}, which may not be enough for the next VM.`,
      remedy: 'Delete VMs or files, or add disk space to this machine.',
    };
  }

  private async network(): Promise<Finding> {
    const active = await this.deps.network.active();
    if (active !== undefined) return { status: 'ok', message: `The network "${active}" is active.` };
    return {
      status: 'warning',
      message: "No libvirt network for VMs is active. New VMs get no network card if it can't be started.",
      fixable: true,
      remedy: `Run the fix to start the network "${OWN_NETWORK}". It requires dnsmasq, iptables and permission to create bridges.`,
    };
  }

  private async guestIsolation(): Promise<Finding> {
    const domains = await this.deps.finder.all();
    const documents = await this.deps.connection.domains.documents(domains);
    const ids = documents.filter(({ xml }) => isExposed(xml)).map(({ id }) => id);
    const exposed = ids.map(({ name }) => name);
    if (exposed.length === 0)
      return { status: 'ok', message: "No VM can connect to ports on this machine's loopback address." };
    return {
      status: 'warning',
      message: `User-mode networking lets the guests of ${exposed.join(', ')} connect to ports on this machine's loopback address, including this service.`,
      remedy: `Change the network card of these VMs to a libvirt network: <interface type='network'><source network='${OWN_NETWORK}'/></interface>.`,
      affected: ids.map((id) => this.deps.finder.refOf(id)),
    };
  }

  private async discWriter(): Promise<Finding> {
    const writer = await this.deps.findDiscWriter();
    if (writer !== undefined) return { status: 'ok', message: `${writer} is available for cloud-init discs.` };
    return {
      status: 'warning',
      message: 'No program that writes ISO images is installed, so VMs get no cloud-init data.',
      remedy: 'Install xorriso.',
    };
  }

  private async virtlogd(): Promise<Finding> {
    // virt-admin needs more rights than the service has. Probing the socket that libvirtd itself uses is enough.
    if (await isVirtlogdListening(this.deps.connection.uri))
      return { status: 'ok', message: 'virtlogd is running and records serial consoles.' };
    return {
      status: 'error',
      message: "virtlogd is not running. VMs can't start without it.",
      remedy: 'Start it: `systemctl start virtlogd`, or `npm start -- --local`.',
    };
  }
}

const insecureMigration = async (): Promise<Finding> => ({
  status: 'warning',
  message:
    'migrationTransport is insecure: during a live migration, everyone on the network of the host can read the memory and the disks of the guest, and write into its disks.',
  remedy: 'Install certificates for QEMU and set migrationTransport: tls.',
});

async function run({ name, find }: Check): Promise<DiagnosticCheck> {
  try {
    const finding = await find();
    return { name, fixable: false, remedy: '', ...(finding.status !== 'ok' && titleOf(name)), ...finding };
  } catch (error) {
    const remedy = DomainError.is(error, 'BACKEND_UNREACHABLE')
      ? 'Run `npm start -- --local` on that machine.'
      : 'See the message.';
    return { name, status: 'error', message: messageOf(error), fixable: false, remedy, ...titleOf(name) };
  }
}

function titleOf(name: string): Pick<DiagnosticCheck, 'title'> {
  const title = CHECK_TITLES[name];
  return title === undefined ? {} : { title };
}

function isExposed(xml: string): boolean {
  try {
    return hasUserNetworking(describeDomain(xml));
  } catch {
    return /<interface type=['"]user['"]/.test(xml);
  }
}
