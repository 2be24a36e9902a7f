import { apiError, type HttpSubresourceHandler, type SubresourceResponse } from '@headgate/kube-sandbox';
import { guestFacts, type GuestRegistry } from '../controllers/instance/guest-registry.js';
import type { InstanceController } from '../controllers/instance/instance-controller.js';
import { goDuration } from '../controllers/snapshots/snapshot-conditions.js';
import { isFinal } from '../machines/printable-status.js';
import { guestAgentInfo, guestFileSystems, guestUsers } from '../guests/guest-agent.js';
import { pngImage } from '../guests/png-image.js';
import { RESOURCES } from '../resources.js';
import { isTrue } from '../types/condition.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';
import {
  ACTION_ROUTE,
  DONE,
  findVm,
  isDryRun,
  optionsOf,
  plainFailure,
  requireVmi,
  SUBRESOURCES,
  vmiConflict,
} from './subresource-support.js';
import { changeVolumesOfVmi } from './volume-actions.js';

type Request = Parameters<HttpSubresourceHandler>[0];

/** The subresources of VirtualMachineInstance that are plain requests. */
export class InstanceSubresources {
  /** Cancels the scheduled thaw of a frozen guest, by the uid of its VMI. */
  private readonly thaws = new Map<string, () => void>();

  constructor(
    private readonly context: SimulationContext,
    private readonly instances: InstanceController,
    private readonly guests: GuestRegistry,
  ) {}

  register(): void {
    this.put('pause', (request) => this.pause(request));
    this.put('unpause', (request) => this.unpause(request));
    this.put('softreboot', (request) => this.softReboot(request));
    if (this.context.release.since('1.5')) this.put('reset', (request) => this.reset(request));
    this.put('freeze', (request) => this.freeze(request));
    this.put('unfreeze', (request) => this.thaw(this.running(request, 'VMI is not running')));
    this.put('addvolume', (request) => changeVolumesOfVmi(this.context, request, request.body, 'add'), 202);
    this.put('removevolume', (request) => changeVolumesOfVmi(this.context, request, request.body, 'remove'), 202);
    this.get('guestosinfo', (vmi) =>
      guestAgentInfo(guestFacts(this.context, vmi), vmi.status?.fsFreezeStatus === 'frozen' ? 'frozen' : 'thawed'),
    );
    this.get('userlist', (vmi) => ({ metadata: {}, items: guestUsers(guestFacts(this.context, vmi)) }));
    this.get('filesystemlist', (vmi) => ({ metadata: {}, items: guestFileSystems(guestFacts(this.context, vmi)) }));
    this.context.subresources.handle(this.address('vnc/screenshot'), ['GET'], (request) => this.screenshot(request));
  }

  private address(subresource: string) {
    return { group: SUBRESOURCES, resource: 'virtualmachineinstances', subresource };
  }

  private put(subresource: string, act: (request: Request) => void, code = DONE.code): void {
    const handle: HttpSubresourceHandler = (request) => {
      act(request);
      return { code };
    };
    this.context.subresources.handle(this.address(subresource), ['PUT'], handle, ACTION_ROUTE);
  }

  /** Requests to the guest agent: every failure is 500 with plain text. */
  private get(subresource: string, answer: (vmi: VirtualMachineInstance) => object): void {
    this.context.subresources.handle(this.address(subresource), ['GET'], (request): SubresourceResponse => {
      try {
        const vmi = requireVmi(this.context, request);
        if (vmi.status?.phase !== 'Running') throw vmiConflict(request.name, 'VMI is not running');
        if (!isTrue(vmi.status.conditions, 'AgentConnected')) {
          throw vmiConflict(request.name, 'VMI does not have guest agent connected');
        }
        return { code: 200, body: answer(vmi) };
      } catch (error) {
        return plainFailure(error);
      }
    });
  }

  private screenshot(request: Request): SubresourceResponse {
    try {
      const vmi = requireVmi(this.context, request);
      if (vmi.status?.phase !== 'Running') throw vmiConflict(request.name, 'VMI is not running');
      return {
        code: 200,
        body: pngImage(this.guests.of(vmi).screen.framebuffer),
        headers: { 'Content-Type': 'image/png' },
      };
    } catch (error) {
      return plainFailure(error);
    }
  }

  private pause(request: Request): void {
    const vmi = this.running(request, 'VM is not running');
    const { livenessProbe } = vmi.spec;
    if (livenessProbe && !livenessProbe.guestAgentPing) {
      const message = 'Pausing VMIs with a non-GuestAgentPing LivenessProbe is not supported';
      throw apiError(403, 'Forbidden', `virtualmachineinstance.kubevirt.io "${request.name}" is forbidden: ${message}`);
    }
    if (isTrue(vmi.status?.conditions, 'Paused')) throw vmiConflict(request.name, 'VMI is already paused');
    this.hold(request, true);
  }

  private unpause(request: Request): void {
    if (findVm(this.context, request)?.status?.snapshotInProgress) {
      throw vmiConflict(request.name, 'VM snapshot is in progress');
    }
    const vmi = this.running(request, 'VMI is not running');
    if (!isTrue(vmi.status?.conditions, 'Paused')) throw vmiConflict(request.name, 'VMI is not paused');
    this.hold(request, false);
  }

  private hold(request: Request, paused: boolean): void {
    if (isDryRun(optionsOf(request.body))) return;
    const { namespace, name } = request;
    const after = this.context.timings.ms('pauseConfirmed');
    this.context.clock.schedule(() => this.instances.hold({ namespace, name }, paused), after);
  }

  private softReboot(request: Request): void {
    const vmi = this.running(request, 'VM is not running');
    if (isTrue(vmi.status?.conditions, 'Paused')) throw vmiConflict(request.name, 'VMI is paused');
    const acpi = vmi.spec.domain.features?.acpi !== undefined;
    if (!acpi && !isTrue(vmi.status?.conditions, 'AgentConnected')) {
      throw vmiConflict(request.name, 'VMI neither have the agent connected nor the ACPI feature enabled');
    }
    this.instances.reset(vmi);
  }

  private reset(request: Request): void {
    this.instances.reset(this.running(request, 'VM is not running'));
  }

  /** The guest's file systems thaw automatically after `unfreezeTimeout`, if it is set. */
  private freeze(request: Request): void {
    const vmi = this.running(request, 'VM is not running');
    const afterMs = goDuration(optionsOf<{ unfreezeTimeout: string }>(request.body).unfreezeTimeout);
    const uid = vmi.metadata.uid!;
    this.thaws.get(uid)?.();
    if (afterMs)
      this.thaws.set(
        uid,
        this.context.clock.schedule(() => this.thaw(vmi), afterMs),
      );
    this.context.store.patch<VirtualMachineInstance>(RESOURCES.vmi, vmi.metadata, ({ status }) => {
      status!.fsFreezeStatus = 'frozen';
    });
  }

  private thaw({ metadata }: VirtualMachineInstance): void {
    this.thaws.get(metadata.uid!)?.();
    this.thaws.delete(metadata.uid!);
    if (this.context.store.get(RESOURCES.vmi, metadata)?.metadata.uid !== metadata.uid) return;
    this.context.store.patch<VirtualMachineInstance>(RESOURCES.vmi, metadata, ({ status }) => {
      delete status!.fsFreezeStatus;
    });
  }

  /** @throws ApiError 404, 409 */
  private running(request: Request, otherwise: string): VirtualMachineInstance {
    const vmi = requireVmi(this.context, request);
    if (isFinal(vmi) || vmi.status?.phase !== 'Running') throw vmiConflict(request.name, otherwise);
    return vmi;
  }
}
