import { DomainError, GuestPorts, type GuestConnection, type InstanceRef } from '@headgate/domain-contracts';
import { instanceNotFound, isNotFound, KubeApiError } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import type { PodObject, VmiObject } from '../api/object-types.js';
import { PODS, subresourcePath, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import { CREATED_BY } from '../migration/find-target.js';
import { PortSocket } from './port-socket.js';

const PROTOCOLS = ['plain.kubevirt.io'] as const;

/**
 * Ports of guests through `portforward` of KubeVirt, which connects to the first address in the status of the VMI. That
 * is the address of its pod, unless the first network card is on another network: then the agent in the guest reports
 * the address, and virt-api connects to whatever it is.
 */
export class KubeGuestPorts extends GuestPorts {
  /** The WebSocket ends in both directions at once. */
  override readonly passesEnd = false;

  constructor(private readonly api: KubeApi) {
    super();
  }

  override async connect(ref: InstanceRef, port: number): Promise<GuestConnection> {
    const vmi = await this.api.find<VmiObject>(VM_INSTANCES, ref);
    if (!vmi) throw await this.absent(ref);
    await this.expectAddressOfPod(ref, vmi);
    const path = subresourcePath(ref.namespace, 'virtualmachineinstances', ref.name, `portforward/${port}/tcp`);
    try {
      return new PortSocket(await this.api.socket(path, PROTOCOLS));
    } catch (error) {
      if (isNotFound(error)) throw await this.absent(ref);
      throw explain(error, ref, port);
    }
  }

  private async expectAddressOfPod({ namespace, name }: InstanceRef, vmi: VmiObject): Promise<void> {
    const { spec, status } = vmi;
    if (status?.phase !== 'Running') throw notRunning(name);
    const first = status.interfaces?.[0];
    const card = spec?.domain?.devices?.interfaces?.find((one) => one.name === first?.name);
    const network = spec?.networks?.find((one) => one.name === first?.name);
    const isOnPod = card?.masquerade !== undefined && network?.pod !== undefined;
    if (!isOnPod) throw noAddress(name, 'its first network card is not on the network of its pod, with masquerade');
    const labelSelector = `${CREATED_BY}=${vmi.metadata.uid}`;
    const pods = await this.api.list<PodObject>(PODS, { namespace, labelSelector });
    const addresses = pods.flatMap((pod) => pod.status?.podIPs ?? []).map(({ ip }) => ip);
    if (first?.ipAddress === undefined || !addresses.includes(first.ipAddress))
      throw noAddress(name, 'its pod does not have the address that KubeVirt reports');
  }

  private async absent(ref: InstanceRef): Promise<DomainError> {
    return (await this.api.find(VIRTUAL_MACHINES, ref)) ? notRunning(ref.name) : instanceNotFound(ref);
  }
}

const notRunning = (name: string): DomainError =>
  new DomainError('WRONG_STATE', `${name} is not running. Start it to connect to its ports.`);

const noAddress = (name: string, why: string): DomainError =>
  new DomainError('NOT_SUPPORTED', `The ports of ${name} can't be reached: ${why}.`);

function explain(error: unknown, { name }: InstanceRef, port: number): unknown {
  if (!(error instanceof KubeApiError)) return error;
  const { text } = error.response;
  const state = (message: string): DomainError => new DomainError('WRONG_STATE', message, { cause: error });
  if (/VMI is paused/.test(text)) return state(`${name} is paused. Resume it to connect to its ports.`);
  if (/no network interfaces are present/.test(text)) return noAddress(name, 'it has no network card');
  if (/dialing VM: .*refused/.test(text)) return state(`No program of ${name} accepts connections at port ${port}.`);
  if (/dialing VM: /.test(text)) return state(`${name} does not answer at port ${port}.`);
  return error;
}
