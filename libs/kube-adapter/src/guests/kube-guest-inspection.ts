import {
  DomainError,
  GuestInspection,
  guestText,
  toGuestInfo,
  type GuestInfo,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { instanceNotFound } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import { conditionOf, type KubeObject } from '../api/kube-object.js';
import type { VmiObject } from '../api/object-types.js';
import { subresourcePath, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';

/** KubeVirt asks the agent in the background and answers with the last result; more time means that something hangs. */
const TIMEOUT_MS = 10_000;
/** The answer is what the guest's agent said, so a guest decides on its size. */
const MAX_ANSWER_BYTES = 1_048_576;

/** What virt-api answers; a hostile agent may put anything into it. */
interface AgentAnswer {
  readonly hostname?: unknown;
  readonly os?: Readonly<Record<string, unknown>>;
  readonly items?: unknown;
}

/** The guest agent of a VM on a cluster, as virt-api passes its answers on. */
export class KubeGuestInspection extends GuestInspection {
  constructor(private readonly api: KubeApi) {
    super();
  }

  override async info(ref: InstanceRef): Promise<GuestInfo> {
    await this.expectAgent(ref);
    const [system, users, filesystems] = await Promise.all([
      this.ask(ref, 'guestosinfo'),
      this.ask(ref, 'userlist'),
      this.ask(ref, 'filesystemlist'),
    ]);
    const { os = {}, hostname } = system;
    return toGuestInfo({
      os: {
        hostname,
        id: os['id'],
        name: os['name'],
        prettyName: os['prettyName'],
        version: os['version'],
        kernel: os['kernelRelease'],
      },
      users: itemsOf(users).map(({ userName, loginTime }) => ({
        name: userName,
        loginMs: typeof loginTime === 'number' ? loginTime * 1000 : undefined,
      })),
      filesystems: itemsOf(filesystems).map(({ diskName, mountPoint, fileSystemType, usedBytes, totalBytes }) => ({
        disk: diskName,
        mountPoint,
        type: fileSystemType,
        usedBytes,
        totalBytes,
      })),
    });
  }

  private async expectAgent(ref: InstanceRef): Promise<void> {
    const vmi = await this.api.find<VmiObject>(VM_INSTANCES, ref);
    if (!vmi) {
      if (!(await this.api.find<KubeObject>(VIRTUAL_MACHINES, ref))) throw instanceNotFound(ref);
      throw agentUnreachable(ref, 'the guest is not running');
    }
    if (vmi.status?.phase !== 'Running') throw agentUnreachable(ref, 'the guest is not running');
    if (conditionOf(vmi.status.conditions, 'AgentConnected')?.status === 'True') return;
    throw agentUnreachable(ref, 'it is not installed, or not started yet');
  }

  /** virt-api answers every failure with 500 and plain text, so they can't be distinguished reliably. */
  private async ask(ref: InstanceRef, subresource: string): Promise<AgentAnswer> {
    const path = subresourcePath(ref.namespace, 'virtualmachineinstances', ref.name, subresource);
    try {
      const answer = await this.api.json<unknown>('GET', path, {
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
      });
      return typeof answer === 'object' && answer !== null ? answer : {};
    } catch (error) {
      if (!DomainError.is(error, 'BACKEND_FAILED', 'BACKEND_TIMEOUT')) throw error;
      throw agentUnreachable(ref, guestText(error.message), error);
    }
  }
}

function itemsOf({ items }: AgentAnswer): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(items)) return [];
  return items.filter((item) => typeof item === 'object' && item !== null) as Record<string, unknown>[];
}

const agentUnreachable = ({ name }: InstanceRef, why: string, cause?: unknown): DomainError =>
  new DomainError(
    'GUEST_AGENT_UNREACHABLE',
    `The guest agent of ${name} can't be reached: ${why.replace(/\.$/, '')}.`,
    {
      cause,
    },
  );
