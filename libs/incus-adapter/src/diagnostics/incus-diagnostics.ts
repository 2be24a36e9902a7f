import { Diagnostics, DomainError, formatBytes, messageOf, type DiagnosticCheck } from '@headgate/domain-contracts';
import { nameOf } from '../api/incus-api.js';
import type { Devices } from '../api/incus-objects.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { DEFAULT_PROJECT } from '../incus-traits.js';

type Finding = Pick<DiagnosticCheck, 'status' | 'message'> & Partial<DiagnosticCheck>;

interface Check {
  readonly name: string;
  readonly title: string;
  find(): Promise<Finding>;
}

interface PoolSpace {
  readonly space?: { readonly used: number; readonly total: number };
}

/** With less free space than this in a pool, the next container may not fit. */
const LOW_SPACE_BYTES = 2 * 1024 ** 3;

/** Checks that a server can create containers. It changes nothing: the server belongs to its administrator. */
export class IncusDiagnostics extends Diagnostics {
  constructor(private readonly engine: IncusEngine) {
    super();
  }

  override checks(): Promise<readonly DiagnosticCheck[]> {
    return Promise.all(this.all().map((check) => this.run(check)));
  }

  override async fix(): Promise<readonly string[]> {
    return [];
  }

  private all(): Check[] {
    return [
      { name: 'server', title: 'The server does not answer', find: () => this.server() },
      { name: 'containers', title: 'The server runs no containers', find: () => this.containers() },
      { name: 'storage-pool', title: 'Storage pools', find: () => this.storage() },
      { name: 'network', title: 'Containers have no network', find: () => this.network() },
      { name: 'images', title: 'There is no image', find: () => this.images() },
    ];
  }

  private async server(): Promise<Finding> {
    const { environment } = await this.engine.api.readServer();
    const version = environment ? `${nameOf(environment.server)} ${environment.server_version}` : 'The server';
    return { status: 'ok', message: `${version} answers and trusts this service.` };
  }

  private async containers(): Promise<Finding> {
    const { environment } = await this.engine.api.server();
    if (environment?.driver.includes('lxc') !== false) {
      return { status: 'ok', message: 'The server runs system containers.' };
    }
    return {
      status: 'error',
      message: 'The server runs no system containers.',
      remedy: 'Install the driver lxc on its machine, and restart it.',
    };
  }

  private async storage(): Promise<Finding> {
    const { api } = this.engine;
    const paths = await api.get<readonly string[]>('/1.0/storage-pools');
    if (paths.length === 0) {
      return {
        status: 'error',
        message: 'The server has no storage pool, so no container can be created.',
        remedy: 'Create one there: `incus storage create default dir`.',
        title: 'There is no storage pool',
      };
    }
    const low: string[] = [];
    for (const path of paths) {
      const { space } = await api.get<PoolSpace>(`${path}/resources`);
      const free = space && space.total > 0 ? space.total - space.used : undefined;
      const name = decodeURIComponent(path.split('/').at(-1) ?? '');
      if (free !== undefined && free < LOW_SPACE_BYTES) low.push(`${name} has ${formatBytes(free)} free`);
    }
    if (low.length === 0) return { status: 'ok', message: 'The storage pools have free space.' };
    return {
      status: 'warning',
      message: `The storage pool ${low.join(', ')}, which may not be enough for the next container.`,
      remedy: 'Delete containers, snapshots or images, or add disk space.',
      title: 'A storage pool is almost full',
    };
  }

  private async network(): Promise<Finding> {
    const { api, project = DEFAULT_PROJECT } = this.engine;
    const { devices } = await api.get<{ readonly devices: Devices }>('/1.0/profiles/default', { project });
    if (Object.values(devices).some(({ type }) => type === 'nic')) {
      return { status: 'ok', message: 'The profile of new containers has a network card.' };
    }
    return {
      status: 'warning',
      message: `The profile default of the project ${project} has no network card, so new containers have no network.`,
      remedy: 'Create a network there, and attach it: `incus network attach-profile incusbr0 default eth0`.',
    };
  }

  private async images(): Promise<Finding> {
    const { api, remotes, project = DEFAULT_PROJECT } = this.engine;
    const found = await api.get<readonly string[]>('/1.0/images', { project });
    if (found.length > 0) return { status: 'ok', message: `The server has ${found.length} images.` };
    if (remotes.size > 0) return { status: 'ok', message: 'Containers are created from configured image servers.' };
    return {
      status: 'warning',
      message: 'The server has no image, and the configuration has no image server.',
      remedy: 'Import an image there with `incus image import`, or add an image server to imageServers of the context.',
    };
  }

  private async run({ name, title, find }: Check): Promise<DiagnosticCheck> {
    try {
      const finding = await find();
      return { name, fixable: false, remedy: '', ...(finding.status !== 'ok' && { title }), ...finding };
    } catch (error) {
      const remedy = DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT')
        ? 'Start the daemon on that machine, or correct the address of the context.'
        : 'See the message.';
      return { name, status: 'error', message: messageOf(error), fixable: false, remedy, title };
    }
  }
}
