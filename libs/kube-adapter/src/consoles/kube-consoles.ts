import type { Duplex } from 'node:stream';
import {
  ConsoleSource,
  DomainError,
  type Clock,
  type InstanceRef,
  type ScreenOptions,
  type SerialLine,
  type Shell,
  type TerminalSize,
} from '@headgate/domain-contracts';
import { createWebSocketStream } from 'ws';
import { instanceNotFound, isNotFound, KubeApiError } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import { subresourcePath, VIRTUAL_MACHINES } from '../api/resources.js';
import { CONTAINER } from '../containers/container-manifest.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { isAtLeast } from '../discovery/kubevirt-version.js';
import { EXEC_PROTOCOLS, ExecChannels } from './exec-channels.js';
import { execTargetOf } from './exec-target.js';

/** The subprotocol for the raw byte stream of a guest's device. */
const PLAIN_PROTOCOLS = ['plain.kubevirt.io'] as const;

/** The parameter `preserveSession`. 1.6.5 has it as well, but counts as 1.6. */
const KEEPS_SESSIONS_SINCE = [1, 7] as const;

const VNC_ATTEMPTS = 4;
const VNC_RETRY_MS = 250;

/** Starts bash where the image has it. */
const SHELL_SCRIPT =
  'TERM=xterm-256color; export TERM; if command -v bash >/dev/null 2>&1; then exec bash -l; else exec sh -l; fi';

/** Consoles through the API server's WebSockets. */
export class KubeConsoles extends ConsoleSource {
  /** KubeVirt serves one VNC session per guest: a second one ends the first, or is refused on request (since 1.7). */
  override readonly screenSharing = 'required';

  constructor(
    private readonly api: KubeApi,
    private readonly clock: Clock,
    private readonly discovery: ClusterDiscovery,
  ) {
    super();
  }

  /**
   * @throws DomainError BUSY when another program has a VNC session open, on KubeVirt 1.7 and newer; NOT_SUPPORTED when
   *   that session must be kept and KubeVirt is older, or its version is unknown
   */
  override async openVnc(ref: InstanceRef, { keepOthers = false }: ScreenOptions = {}): Promise<Duplex> {
    if (keepOthers) await this.expectKept();
    for (let attempt = 1; ; attempt++) {
      try {
        // Older releases ignore the parameter.
        return await this.device(ref, 'vnc', '?preserveSession=true');
      } catch (error) {
        // KubeVirt takes a moment to release a session that this service has just closed.
        if (attempt === VNC_ATTEMPTS || !DomainError.is(error, 'BUSY')) throw error;
        await this.clock.delay(VNC_RETRY_MS);
      }
    }
  }

  override async openSerial(ref: InstanceRef): Promise<SerialLine> {
    return { stream: await this.device(ref, 'console'), backlog: Buffer.alloc(0) };
  }

  override async openShell(ref: InstanceRef, size: TerminalSize): Promise<Shell> {
    const { path, prefix } = await execTargetOf(this.api, ref);
    const query = new URLSearchParams({
      container: CONTAINER,
      stdin: 'true',
      stdout: 'true',
      stderr: 'false',
      tty: 'true',
    });
    for (const argument of [...prefix, '/bin/sh', '-c', SHELL_SCRIPT]) query.append('command', argument);
    const stream = new ExecChannels(await this.api.socket(path, EXEC_PROTOCOLS, `?${query}`));
    stream.resize(size);
    return { stream, resize: (next) => stream.resize(next) };
  }

  private async expectKept(): Promise<void> {
    const { version } = await this.discovery.facts();
    if (version && isAtLeast(version, ...KEEPS_SESSIONS_SINCE)) return;
    throw new DomainError(
      'NOT_SUPPORTED',
      'A picture of a screen could end the session of another program. Taking one needs KubeVirt 1.7 or newer, and the permission to read its version.',
    );
  }

  private async device(ref: InstanceRef, device: 'vnc' | 'console', query = ''): Promise<Duplex> {
    const path = subresourcePath(ref.namespace, 'virtualmachineinstances', ref.name, device);
    try {
      const socket = await this.api.socket(path, PLAIN_PROTOCOLS, query);
      return createWebSocketStream(socket);
    } catch (error) {
      throw await this.explain(error, ref);
    }
  }

  private async explain(error: unknown, ref: InstanceRef): Promise<unknown> {
    const stopped = new DomainError('WRONG_STATE', `${ref.name} is not running. Start it first.`, { cause: error });
    if (isNotFound(error)) return (await this.api.find(VIRTUAL_MACHINES, ref)) ? stopped : instanceNotFound(ref);
    if (!(error instanceof KubeApiError)) return error;
    const { text } = error.response;
    if (/Active VNC connection/.test(text)) {
      return new DomainError('BUSY', `Another program has the screen of ${ref.name} open; close it there first.`, {
        cause: error,
      });
    }
    if (/No (serial consoles|graphics devices) are present/.test(text)) {
      return new DomainError('NOT_SUPPORTED', `${ref.name} has no such console: ${text}`, { cause: error });
    }
    return /VMI is not running|in failed status|phase is/.test(text) ? stopped : error;
  }
}
