import { Diagnostics, DomainError, formatBytes, messageOf, type DiagnosticCheck } from '@headgate/domain-contracts';
import { versionText } from '../cluster/libvirt-cluster.js';
import { DEFAULT_NETWORK, type Accelerator } from '../provisioning/host.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { Virsh } from '../virsh/virsh.js';
import { answersVirtlogd } from './virtlogd-socket.js';

export interface DiagnosticsParts {
  readonly virsh: Virsh;
  readonly pool: StoragePool;
  readonly accelerator: () => Promise<Accelerator>;
  readonly findDiscWriter: () => Promise<string | undefined>;
  readonly isRemote: boolean;
}

type Finding = Pick<DiagnosticCheck, 'status' | 'message'> & Partial<DiagnosticCheck>;

interface Check {
  readonly name: string;
  find(): Promise<Finding>;
  fix?(): Promise<unknown>;
}

/** Below this much room in the pool, the next VM may not fit. */
const LITTLE_SPACE_BYTES = 5 * 1024 ** 3;

export class LibvirtDiagnostics extends Diagnostics {
  constructor(private readonly parts: DiagnosticsParts) {
    super();
  }

  override checks(): Promise<readonly DiagnosticCheck[]> {
    return Promise.all(this.all().map(run));
  }

  override async fix(): Promise<readonly string[]> {
    const fixed: string[] = [];
    for (const check of this.all()) {
      if (!check.fix || !(await run(check)).fixable) continue;
      // Whether it helped is what the check says afterwards.
      await check.fix().catch(() => undefined);
      if ((await run(check)).status === 'ok') fixed.push(check.name);
    }
    return fixed;
  }

  private all(): Check[] {
    const { pool } = this.parts;
    return [
      { name: 'libvirt', find: () => this.libvirt() },
      { name: 'qemu', find: () => this.qemu() },
      { name: 'acceleration', find: () => this.acceleration() },
      { name: 'storage-pool', find: () => this.storage(), fix: () => pool.ensure() },
      { name: 'network', find: () => this.network(), fix: () => this.startNetwork() },
      { name: 'disc-writer', find: () => this.discWriter() },
      ...(this.parts.isRemote ? [] : [{ name: 'virtlogd', find: () => this.virtlogd() }]),
    ];
  }

  private async libvirt(): Promise<Finding> {
    const version = versionText(await this.parts.virsh.run(['version'], { timeoutMs: 10_000 }));
    return { status: 'ok', message: `${version} answers.` };
  }

  private async qemu(): Promise<Finding> {
    const capabilities = await this.parts.virsh.run(['domcapabilities'], { timeoutMs: 20_000 });
    return { status: 'ok', message: `${/<path>([^<]+)<\/path>/.exec(capabilities)?.[1] ?? 'QEMU'} runs guests.` };
  }

  private async acceleration(): Promise<Finding> {
    if ((await this.parts.accelerator()) === 'kvm')
      return { status: 'ok', message: 'KVM runs guests on the processor.' };
    return {
      status: 'warning',
      message: 'KVM was tried and does not run a guest here: VMs are emulated in software, which works and is slow.',
      remedy:
        'Turn on virtualization in the firmware, load the kvm module, or, in a virtual machine, turn on nested virtualization.',
    };
  }

  private async storage(): Promise<Finding> {
    const { pool } = this.parts;
    const state = await pool.state();
    if (!state)
      return {
        status: 'warning',
        message: `The storage pool ${pool.name} is not there yet: the first VM makes it.`,
        fixable: true,
        remedy: 'Fix makes it now.',
      };
    if (!state.isActive)
      return {
        status: 'error',
        message: `The storage pool ${pool.name} is not active.`,
        fixable: true,
        remedy: 'Fix starts it.',
      };
    const free = `The storage pool ${pool.name} has ${formatBytes(state.availableBytes)} left`;
    if (state.availableBytes >= LITTLE_SPACE_BYTES) return { status: 'ok', message: `${free}.` };
    return {
      status: 'warning',
      message: `${free}, which is little.`,
      remedy: 'Delete VMs or files, or give the machine a larger disk.',
    };
  }

  private async network(): Promise<Finding> {
    const { virsh } = this.parts;
    const [active, all] = [await virsh.run(['net-list', '--name']), await virsh.run(['net-list', '--all', '--name'])];
    if (has(active, DEFAULT_NETWORK))
      return { status: 'ok', message: `libvirt's network "${DEFAULT_NETWORK}" is active.` };
    return {
      status: 'warning',
      message: `libvirt's network "${DEFAULT_NETWORK}" is not active: new VMs reach the network by user-mode networking, and nothing reaches them.`,
      fixable: has(all, DEFAULT_NETWORK),
      remedy: `Start it (\`virsh net-start ${DEFAULT_NETWORK}\`); it needs dnsmasq and the right to make bridges.`,
    };
  }

  private async startNetwork(): Promise<void> {
    await this.parts.virsh.run(['net-start', DEFAULT_NETWORK]);
    await this.parts.virsh.run(['net-autostart', DEFAULT_NETWORK]);
  }

  private async discWriter(): Promise<Finding> {
    const writer = await this.parts.findDiscWriter();
    if (writer !== undefined) return { status: 'ok', message: `${writer} writes cloud-init discs.` };
    return {
      status: 'warning',
      message: 'No program that writes discs is installed: VMs get no cloud-init data.',
      remedy: 'Install xorriso.',
    };
  }

  private async virtlogd(): Promise<Finding> {
    // virt-admin would need more rights than the service has: the socket that libvirtd itself uses says enough.
    if (await answersVirtlogd(this.parts.virsh.uri))
      return { status: 'ok', message: 'virtlogd keeps the serial logs of guests.' };
    return {
      status: 'error',
      message: 'virtlogd does not answer, and no guest starts without it.',
      remedy: 'Start it: `systemctl start virtlogd`, or `npm start -- --local`.',
    };
  }
}

async function run({ name, find }: Check): Promise<DiagnosticCheck> {
  try {
    return { name, fixable: false, remedy: '', ...(await find()) };
  } catch (error) {
    const remedy = DomainError.is(error, 'BACKEND_UNREACHABLE')
      ? 'Type `npm start -- --local` on that machine.'
      : 'See the message.';
    return { name, status: 'error', message: messageOf(error), fixable: false, remedy };
  }
}

const has = (list: string, name: string): boolean => list.split('\n').some((line) => line.trim() === name);
