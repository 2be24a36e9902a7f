import {
  deviceNotFound,
  isMacAddress,
  noChange,
  refusal,
  refusedChange,
  type AddNicChange,
  type ChangeNicChange,
  type HardwareEffect,
  type Refusal,
  type RemoveNicChange,
} from '@headgate/domain-contracts';
import type { GuestInterface, GuestNetwork, VmiObject, VmObject } from '../api/object-types.js';
import { networkRefusals } from '../api/network-refusals.js';
import { VIRTUAL_MACHINES } from '../api/resources.js';
import { awaitsRestart, canMigrate, isRunning } from './live-changes.js';
import { patchedChange } from './patched-change.js';
import { replaceIfSame, VM_PATHS, type PlannedPatch } from './planned-change.js';
import { uidTest } from './scale.js';
import { networkName, type HardwareDeps, type VmState } from './vm-hardware.js';

/**
 * Plans the changes of a VM's network cards. KubeVirt plugs and unplugs those of a running guest by a live migration.
 */
export class NicChanges {
  constructor(private readonly deps: HardwareDeps) {}

  async add(state: VmState, { nic, network, mac }: AddNicChange): Promise<PlannedPatch> {
    const { ref } = state;
    const refusals = await this.networkRefusals(state, network);
    const address = mac?.toLowerCase();
    const [interfaces, networks] = cardsOf(state);
    const kept = interfaces.filter(({ state: link }) => link !== 'absent' || state.vmi !== undefined);
    if (kept.some(({ name }) => name === nic)) {
      refusals.push(refusal('ALREADY_EXISTS', `${ref.name} has a NIC named ${nic} already.`, 'Choose another name.'));
    }
    if (address !== undefined) refusals.push(...(await this.macRefusals(state, address)));
    if (refusals.length > 0) return refusedChange(...refusals);
    const keptNames = new Set(kept.map(({ name }) => name));
    const card: GuestInterface = {
      name: nic,
      bridge: {},
      model: 'virtio',
      ...(address !== undefined && { macAddress: address }),
    };
    const after = {
      interfaces: [...kept, card],
      networks: [
        ...networks.filter(({ name }) => keptNames.has(name)),
        { name: nic, multus: { networkName: network } },
      ],
    };
    const isPlugged = ({ spec }: VmiObject): boolean =>
      spec?.domain?.devices?.interfaces?.some(({ name }) => name === nic) === true;
    const step = { name: 'add', detail: `${nic} of ${ref.name} on the network ${network}.` };
    return this.patched(state, { after, step, isApplied: isPlugged, canBeLive: true });
  }

  async change(state: VmState, { nic, network, isLinkUp }: ChangeNicChange): Promise<PlannedPatch> {
    const { ref, spec, facts } = state;
    const [interfaces, networks] = cardsOf(state);
    const card = interfaces.find(({ name, state: link }) => name === nic && link !== 'absent');
    if (!card) return refusedChange(this.missing(state, nic));
    const refusals = network === undefined ? [] : await this.networkRefusals(state, network);
    const isPod = networks.some(({ name, pod }) => name === nic && pod !== undefined);
    if (network !== undefined && isPod && refusals.length === 0) {
      const reason = `${nic} is on the pod network, which KubeVirt can't replace.`;
      refusals.push(refusal('NOT_SUPPORTED', reason, 'Add another NIC.'));
    }
    if (refusals.length > 0) return refusedChange(...refusals);
    const link = (isLinkUp ?? card.state !== 'down') ? 'up' : 'down';
    const hasOtherLink = link !== (card.state ?? 'up');
    const hasOtherNetwork = network !== undefined && network !== networkName(spec, nic);
    if (!hasOtherLink && !hasOtherNetwork) return noChange;
    const after = {
      interfaces: interfaces.map((one) => (one.name === nic && hasOtherLink ? { ...one, state: link } : one)),
      networks: networks.map((one) =>
        one.name === nic && hasOtherNetwork ? { name: nic, multus: { networkName: network } } : one,
      ),
    };
    const isApplied = ({ spec: live }: VmiObject): boolean =>
      (!hasOtherNetwork || networkName(live ?? {}, nic) === network) &&
      live?.domain?.devices?.interfaces?.some(({ name, state: now = 'up' }) => name === nic && now === link) === true;
    const what = [
      ...(hasOtherNetwork ? [`to the network ${network}`] : []),
      ...(hasOtherLink ? [`with the cable ${link === 'up' ? 'plugged in' : 'unplugged'}`] : []),
    ];
    const step = { name: 'change', detail: `${nic} of ${ref.name} ${what.join(', ')}.` };
    return this.patched(state, {
      after,
      step,
      isApplied,
      canBeLive: !hasOtherNetwork || facts.isGateEnabled('LiveUpdateNADRef'),
    });
  }

  async remove(state: VmState, { nic }: RemoveNicChange): Promise<PlannedPatch> {
    const { ref, vmi } = state;
    const [interfaces, networks] = cardsOf(state);
    const card = interfaces.find(({ name, state: link }) => name === nic && link !== 'absent');
    if (!card) return refusedChange(this.missing(state, nic));
    if (networks.some(({ name, pod }) => name === nic && pod !== undefined)) {
      const reason = `${nic} is on the pod network: without it, KubeVirt would add it again.`;
      return refusedChange(refusal('WRONG_STATE', reason, 'Unplug its cable instead.'));
    }
    const isRunningNow = vmi !== undefined;
    const after = isRunningNow
      ? // KubeVirt removes the entry of an absent card itself when the VM has stopped.
        { interfaces: interfaces.map((one) => (one.name === nic ? { ...one, state: 'absent' } : one)), networks }
      : {
          interfaces: interfaces.filter(({ name }) => name !== nic),
          networks: networks.filter(({ name }) => name !== nic),
        };
    const isApplied = ({ spec }: VmiObject): boolean =>
      spec?.domain?.devices?.interfaces?.some(({ name, state: link }) => name === nic && link !== 'absent') !== true;
    const step = { name: 'remove', detail: `The NIC ${nic} of ${ref.name}.` };
    return this.patched(state, { after, step, isApplied, canBeLive: true });
  }

  private async patched(state: VmState, { after, step, isApplied, canBeLive }: CardChange): Promise<PlannedPatch> {
    const { spec, vm, vmi, facts } = state;
    const patch = [
      uidTest(vm.metadata.uid),
      ...replaceIfSame(VM_PATHS.interfaces, spec.domain?.devices?.interfaces, after.interfaces),
      ...replaceIfSame(VM_PATHS.networks, spec.networks, after.networks),
    ];
    const isBlocked = awaitsRestart(state) || !facts.isGateEnabled('HotplugNICs');
    const isLive = canBeLive && !isBlocked && isRunning(state) && (await canMigrate(this.deps, state));
    const effect: HardwareEffect = isLive ? 'now' : 'next-start';
    const steps = [
      step,
      ...(isLive ? [{ name: 'migrate', detail: 'A live migration applies the change to the running guest.' }] : []),
    ];
    const warnings = vmi && !isLive ? ['The running VM keeps its NICs until it is started again.'] : [];
    return patchedChange(this.deps, state, { effect, steps, warnings, patch, ...(isLive && { isApplied }) });
  }

  private missing({ ref, spec }: VmState, nic: string): Refusal {
    const { interfaces = [] } = spec.domain?.devices ?? {};
    const present = interfaces.filter(({ state: link }) => link !== 'absent').map(({ name }) => name);
    const { message } = deviceNotFound(ref.name, `NIC ${nic}`, present);
    return refusal('DEVICE_NOT_FOUND', message, 'Name one of its NICs.');
  }

  /** KubeVirt accepts a network that does not exist, and the VM then never starts. */
  private networkRefusals({ ref }: VmState, network: string): Promise<Refusal[]> {
    return networkRefusals(this.deps.api, { namespace: ref.namespace, network, field: 'nad' });
  }

  /** Two cards with one address on a network cut each other off. */
  private async macRefusals({ ref }: VmState, mac: string): Promise<Refusal[]> {
    if (!isMacAddress(mac)) {
      return [
        refusal('INVALID_INPUT', `mac: ${mac} is not the address of a NIC.`, 'Use one such as 52:54:00:12:34:56.'),
      ];
    }
    const vms = await this.deps.api.list<VmObject>(VIRTUAL_MACHINES, { namespace: ref.namespace });
    const user = vms.find(({ spec }) =>
      spec?.template?.spec?.domain?.devices?.interfaces?.some(({ macAddress }) => macAddress?.toLowerCase() === mac),
    );
    if (!user) return [];
    const reason = `The MAC address ${mac} belongs to a NIC of ${user.metadata.name}.`;
    return [refusal('ALREADY_EXISTS', reason, 'Choose another one.')];
  }
}

interface CardChange {
  readonly after: { readonly interfaces: readonly GuestInterface[]; readonly networks: readonly GuestNetwork[] };
  readonly step: { readonly name: string; readonly detail: string };
  readonly isApplied: (vmi: VmiObject) => boolean;
  readonly canBeLive: boolean;
}

/**
 * The cards of a VM. One without any gets a card on the pod network from KubeVirt, which it would lose with the first
 * one of its own.
 */
function cardsOf({ spec, vmi, facts }: VmState): [readonly GuestInterface[], readonly GuestNetwork[]] {
  const own = spec.domain?.devices?.interfaces ?? [];
  if (own.length > 0) return [own, spec.networks ?? []];
  const live = vmi?.spec?.domain?.devices?.interfaces?.map(({ name, masquerade, bridge }) => ({
    name,
    ...(masquerade === undefined ? { bridge: bridge ?? {} } : { masquerade }),
  }));
  if (live && live.length > 0) return [live, vmi?.spec?.networks ?? []];
  const isMasquerade = facts.kubevirt?.spec?.configuration?.network?.defaultNetworkInterface === 'masquerade';
  return [
    [{ name: 'default', ...(isMasquerade ? { masquerade: {} } : { bridge: {} }) }],
    [{ name: 'default', pod: {} }],
  ];
}
