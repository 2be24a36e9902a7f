import {
  DomainError,
  InstancePower,
  templateRefusal,
  type InstanceRef,
  type PowerAction,
  type PowerOptions,
} from '@headgate/domain-contracts';
import { instanceNotFound, isNotFound, KubeApiError } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import type { VmiObject, VmObject } from '../api/object-types.js';
import { subresourcePath, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import { LABEL } from '../labels.js';
import { isStopping, staysOn, willStart } from './power-requests.js';
import { isRequested } from './requested-action.js';

type ActionTarget = 'virtualmachines' | 'virtualmachineinstances';

/** KubeVirt's messages for a VM that is already in the requested state; it has no code for this. Source: virt-api. */
const ALREADY_DONE: Readonly<Record<PowerAction, RegExp | undefined>> = {
  start: /VM is already running|^Always does not support manual start requests/,
  stop: /VM is not running|only supports manual stop requests with a shorter graceperiod/,
  restart: undefined,
  pause: /already paused/,
  unpause: /VMI is not paused/,
};

/** Powers VMs through the action endpoints of KubeVirt. */
export class KubePower extends InstancePower {
  constructor(private readonly api: KubeApi) {
    super();
  }

  override async apply(ref: InstanceRef, action: PowerAction, { force = false }: PowerOptions = {}): Promise<void> {
    const target: ActionTarget =
      action === 'pause' || action === 'unpause' ? 'virtualmachineinstances' : 'virtualmachines';
    const instance = action === 'restart' ? await this.api.find<VmiObject>(VM_INSTANCES, ref) : undefined;
    if (action === 'stop') await this.expectNoPendingStart(ref);
    if (action === 'start' || action === 'restart') await this.expectNoTemplate(ref);
    try {
      const path = subresourcePath(ref.namespace, target, ref.name, action);
      await this.api.invoke(path, bodyOf(action, force), isRequested(this.api, ref, action, instance));
    } catch (error) {
      if (isNotFound(error)) throw await this.explainNotFound(ref, action);
      if (error instanceof KubeApiError && ALREADY_DONE[action]?.test(error.message))
        return action === 'start' ? this.expectNotStopping(ref) : undefined;
      throw explain(error, ref, action);
    }
    // A restart may have been requested at the same time.
    if (action === 'stop') await this.expectNoPendingStart(ref);
  }

  override async staysOn(ref: InstanceRef): Promise<boolean> {
    const [vm, vmi] = await Promise.all([
      this.api.find<VmObject>(VIRTUAL_MACHINES, ref),
      this.api.find<VmiObject>(VM_INSTANCES, ref),
    ]);
    if (!vm) throw instanceNotFound(ref);
    return staysOn({ vm, ...(vmi && { vmi }) });
  }

  /** KubeVirt itself knows no templates. */
  private async expectNoTemplate(ref: InstanceRef): Promise<void> {
    const vm = await this.api.find<VmObject>(VIRTUAL_MACHINES, ref);
    if (vm?.metadata.labels?.[LABEL.template] === 'true')
      throw new DomainError('WRONG_STATE', templateRefusal(ref.name));
  }

  /** KubeVirt keeps the start request of a restart when the VM is stopped meanwhile, and starts the VM again. */
  private async expectNoPendingStart(ref: InstanceRef): Promise<void> {
    const vm = await this.api.find<VmObject>(VIRTUAL_MACHINES, ref);
    if (vm && willStart(vm)) {
      throw new DomainError('BUSY', `${ref.name} is being restarted; stop it again when that is done.`);
    }
  }

  /** The guest of a VM that is being stopped still runs, but nothing starts it again. */
  private async expectNotStopping(ref: InstanceRef): Promise<void> {
    const vm = await this.api.find<VmObject>(VIRTUAL_MACHINES, ref);
    if (vm && isStopping(vm))
      throw new DomainError('BUSY', `${ref.name} is being stopped; start it again when that is done.`);
  }

  /** 404 of the live instance means that the VM is stopped, unless the VM itself does not exist. */
  private async explainNotFound(ref: InstanceRef, action: PowerAction): Promise<DomainError> {
    const vm = await this.api.find(VIRTUAL_MACHINES, ref);
    return vm ? notRunning(ref, action) : instanceNotFound(ref);
  }
}

function bodyOf(action: PowerAction, force: boolean): unknown {
  if (!force) return {};
  if (action === 'stop') return { gracePeriod: 0 };
  return action === 'restart' ? { gracePeriodSeconds: 0 } : {};
}

const notRunning = ({ name }: InstanceRef, action: PowerAction): DomainError =>
  new DomainError('WRONG_STATE', `${name} is not running, so it can't ${action}. Start it first.`);

function explain(error: unknown, ref: InstanceRef, action: PowerAction): unknown {
  if (!(error instanceof KubeApiError)) return error;
  if (/stop\/start already underway/.test(error.response.text)) {
    return new DomainError('BUSY', `${ref.name} is already being stopped or started; try again when that is done.`, {
      cause: error,
    });
  }
  if (error.code !== 'WRONG_STATE') return error;
  if (/not running|does not support manual restart|support manual restart requests/.test(error.message)) {
    return notRunning(ref, action);
  }
  return error;
}
