import { useQueryClient } from '@tanstack/react-query';
import type { HardwareDiskView, HardwareNicView, HardwareView, VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { busyReason } from '../../../shared/instances/busy.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { contextNamed, unavailableReason, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { readableQuantity, readableSizes } from '../../../shared/quantity/quantity.js';
import { Button } from '../../../shared/ui/button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { TextInput } from '../../../shared/ui/inputs.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { ReloadButton } from '../../../shared/ui/reload-button.js';
import { Table } from '../../../shared/ui/table.js';
import {
  changeHardware,
  hardwareKey,
  previewHardware,
  useHardware,
  type HardwareChangeRequest,
} from '../api/hardware-requests.js';
import { discardDrafts, endDrafts, useDraft, useHasDrafts } from '../hardware-drafts.js';
import { useTrackTask } from '../../../shared/tasks/track-task.js';
import { ApplyingChanges, applyingReason, useAppliedNotice } from './applying-changes.js';
import { HostDevicesSection } from './host-devices-section.js';
import { MoveDiskSection } from './move-disk-section.js';
import { PlacementSection } from './placement-section.js';
import { BootSection, DriveActions, type HardwarePartProps } from './boot-section.js';

/** The body of the notice after a change that the guest does not have yet. */
const APPLYING = 'A live migration applies the change. The guest has it when the migration has ended.';

/** The size, the disks, the NICs and the boot settings of a VM. Every change is previewed first. */
export function HardwareTab({ vm }: { vm: VmView }) {
  const { data: capabilities } = useCapabilities();
  const { data: whoami } = useWhoami();
  const unavailable = unavailableReason(contextNamed(capabilities, vm.context), 'hardware');
  const { data, error, refetch, isFetching } = useHardware(vm, unavailable === undefined);
  const [change, setChange] = useState<HardwareChangeRequest>();
  const queries = useQueryClient();
  const notify = useNotify();
  const trackTask = useTrackTask();
  useAppliedNotice(vm, data);
  if (unavailable !== undefined) return <p className="hg-note hg-page">{unavailable}</p>;
  if (error) return <ErrorAlert title="Couldn't load the hardware" error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height="20rem" label="Loading the hardware" />;
  const parts = { vm, hardware: data, refusal: readOnlyReason(whoami) ?? busyReason(vm), onChange: setChange };
  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <Pending hardware={data} />
        <ApplyingChanges hardware={data} />
        <span className="hg-spring" />
        <Drafts vm={vm} />
        <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />
      </div>
      <SizeForm {...parts} />
      <Disks {...parts} />
      <MoveDiskSection {...parts} />
      <Nics {...parts} />
      <BootSection {...parts} />
      <PlacementSection {...parts} />
      <HostDevicesSection {...parts} />
      {change && (
        <PlanPanel
          title={change.title}
          label={change.label}
          failure="Couldn't change the hardware"
          isDanger={change.isDanger ?? false}
          preview={() => previewHardware(vm, change)}
          run={() => changeHardware(vm, change)}
          onClose={() => setChange(undefined)}
          onDone={({ task, applying = [] }) => {
            setChange(undefined);
            endDrafts(vm, change.drafts ?? []);
            if (task !== undefined) trackTask(task);
            else if (applying.length > 0)
              notify({ variant: 'info', title: `${vm.name} is being changed`, body: APPLYING });
            else notify({ variant: 'success', title: `Changed the hardware of ${vm.name}` });
            void queries.invalidateQueries({ queryKey: hardwareKey(vm) });
            void queries.invalidateQueries({ queryKey: ['host-resources', vm.context] });
          }}
        />
      )}
    </div>
  );
}

/** Discards the changes that are typed and not applied yet. */
function Drafts({ vm }: { vm: VmView }) {
  if (!useHasDrafts(vm)) return null;
  return (
    <>
      <span className="hg-note">Some changes are not applied yet</span>
      <Button variant="link" onClick={() => discardDrafts(vm)}>
        Discard changes
      </Button>
    </>
  );
}

function Pending({ hardware: { pending } }: { hardware: HardwareView }) {
  if (pending.length === 0) return <span className="hg-note">No changes are waiting for a restart</span>;
  return (
    <ul className="hg-note" aria-label="Changes that take effect after a restart">
      {pending.map(({ field, running, configured }) => (
        <li key={field}>
          {field}: {readableSizes(running) || 'none'} now, {readableSizes(configured) || 'none'} after a restart
        </li>
      ))}
    </ul>
  );
}

function SizeForm({ vm, hardware, refusal, onChange }: HardwarePartProps) {
  const [cpu, setCpu] = useDraft(vm, 'cpu', String(hardware.cpu));
  const [mem, setMem] = useDraft(vm, 'mem', hardware.mem);
  const body = {
    ...(cpu === String(hardware.cpu) ? {} : { cpu: Number(cpu) }),
    ...(mem === hardware.mem ? {} : { mem }),
  };
  const scale = { label: 'Scale', method: 'POST', path: 'scale', drafts: ['cpu', 'mem'] } as const;
  const reason =
    refusal ??
    applyingReason(hardware) ??
    (Object.keys(body).length === 0 ? 'Change the CPUs or the memory first.' : undefined);
  return (
    <section aria-label="Size" className="hg-section">
      <h2>Size</h2>
      <div className="hg-toolbar hg-toolbar--fields">
        <LabeledInput label="CPUs" value={cpu} onChange={setCpu} />
        <LabeledInput label="Memory" value={mem} onChange={setMem} />
        <ReasonedButton
          variant="secondary"
          reason={reason}
          onClick={() => onChange({ ...scale, title: `Scale ${vm.name}`, body })}
        >
          Scale…
        </ReasonedButton>
      </div>
    </section>
  );
}

function Disks({ vm, hardware, refusal, onChange }: HardwarePartProps) {
  const [size, setSize] = useDraft(vm, 'disk size');
  const drafts = ['disk size'];
  const add = {
    title: `Add a disk to ${vm.name}`,
    label: 'Add disk',
    method: 'POST',
    path: 'volumes',
    drafts,
  } as const;
  return (
    <section aria-label="Disks" className="hg-section">
      <h2>Disks</h2>
      {hardware.disks.length === 0 && <p className="hg-note">No disks</p>}
      {hardware.disks.length > 0 && (
        <Table label="Disks" columns={['Device', 'Volume', 'Size', 'Actions']}>
          {hardware.disks.map((disk) => (
            <DiskRow key={disk.device} disk={disk} {...{ vm, refusal, onChange }} />
          ))}
        </Table>
      )}
      <div className="hg-toolbar hg-toolbar--fields">
        <LabeledInput label="Size of the new disk" placeholder="20Gi" value={size} onChange={setSize} />
        <ReasonedButton
          variant="secondary"
          reason={refusal ?? (size === '' ? 'Enter a size first.' : undefined)}
          onClick={() => onChange({ ...add, body: { size } })}
        >
          Add disk…
        </ReasonedButton>
      </div>
    </section>
  );
}

function DiskRow({ disk, vm, refusal, onChange }: { disk: HardwareDiskView } & Omit<HardwarePartProps, 'hardware'>) {
  const { pvc, device, isRoot, type } = disk;
  const name = pvc ?? device;
  const draft = `size of ${name}`;
  const [size, setSize] = useDraft(vm, draft);
  const path = `volumes/${encodeURIComponent(name)}` as const;
  const detach = (isDeleted: boolean): HardwareChangeRequest => ({
    title: `${isDeleted ? 'Delete' : 'Detach'} ${name}`,
    label: isDeleted ? 'Delete' : 'Detach',
    isDanger: isDeleted,
    method: 'DELETE',
    path,
    ...(isDeleted && { query: { delete: 'true' } }),
  });
  const expand = { title: `Expand ${name}`, label: 'Expand', method: 'POST', path: 'expand', drafts: [draft] } as const;
  return (
    <tr>
      <td>
        {device}
        {isRoot ? ' (root)' : type === 'cdrom' ? ' (CD-ROM)' : ''}
      </td>
      <td>{pvc ?? ''}</td>
      <td>{readableQuantity(disk.size ?? '')}</td>
      <td>
        {type === 'cdrom' && <DriveActions drive={disk} {...{ vm, refusal, onChange }} />}
        {type === 'disk' && (
          <div className="hg-toolbar">
            <TextInput aria-label={`New size of ${name}`} placeholder="New size" value={size} onChange={setSize} />
            <ReasonedButton
              variant="link"
              aria-label={`Expand ${name}`}
              reason={refusal ?? (size === '' ? 'Enter a size first.' : undefined)}
              onClick={() => onChange({ ...expand, body: { pvc: name, size } })}
            >
              Expand
            </ReasonedButton>
            {[false, true].map((isDeleted) => (
              <ReasonedButton
                key={String(isDeleted)}
                variant="link"
                aria-label={`${isDeleted ? 'Delete' : 'Detach'} ${name}`}
                reason={refusal ?? (isRoot ? `${vm.name} boots from it.` : undefined)}
                onClick={() => onChange(detach(isDeleted))}
              >
                {isDeleted ? 'Delete' : 'Detach'}
              </ReasonedButton>
            ))}
          </div>
        )}
      </td>
    </tr>
  );
}

function Nics({ vm, hardware, refusal, onChange }: HardwarePartProps) {
  const [iface, setIface] = useDraft(vm, 'nic name');
  const [nad, setNad] = useDraft(vm, 'nic network');
  const drafts = ['nic name', 'nic network'];
  const add = { title: `Add a NIC to ${vm.name}`, label: 'Add NIC', method: 'POST', path: 'nics', drafts } as const;
  const reason = refusal ?? (iface === '' || nad === '' ? 'Enter a name and a network first.' : undefined);
  const ofNic = ({ iface: nic }: HardwareNicView) =>
    ({ path: `nics/${encodeURIComponent(nic)}`, isExtension: true }) as const;
  return (
    <section aria-label="NICs" className="hg-section">
      <h2>NICs</h2>
      {hardware.nics.length === 0 && <p className="hg-note">No NICs</p>}
      {hardware.nics.length > 0 && (
        <Table label="NICs" columns={['Name', 'Network', 'MAC address', 'Link', 'Actions']}>
          {hardware.nics.map((nic) => {
            const link = nic.link === 'up' ? ('down' as const) : ('up' as const);
            const verb = link === 'up' ? 'Connect' : 'Disconnect';
            return (
              <tr key={nic.iface}>
                <td>{nic.iface}</td>
                <td>{nic.nad}</td>
                <td>{nic.mac}</td>
                <td>{nic.link === 'up' ? 'Connected' : 'Disconnected'}</td>
                <td>
                  <ReasonedButton
                    variant="link"
                    aria-label={`${verb} ${nic.iface}`}
                    reason={refusal}
                    onClick={() =>
                      onChange({
                        ...ofNic(nic),
                        title: `${verb} ${nic.iface}`,
                        label: verb,
                        method: 'POST',
                        body: { link },
                      })
                    }
                  >
                    {verb}
                  </ReasonedButton>
                  <ReasonedButton
                    variant="link"
                    aria-label={`Remove ${nic.iface}`}
                    reason={refusal}
                    onClick={() =>
                      onChange({ ...ofNic(nic), title: `Remove ${nic.iface}`, label: 'Remove', method: 'DELETE' })
                    }
                  >
                    Remove
                  </ReasonedButton>
                </td>
              </tr>
            );
          })}
        </Table>
      )}
      <div className="hg-toolbar hg-toolbar--fields">
        <LabeledInput label="Name of the new NIC" placeholder="eth1" value={iface} onChange={setIface} />
        <LabeledInput label="Network of the new NIC" value={nad} onChange={setNad} />
        <ReasonedButton variant="secondary" reason={reason} onClick={() => onChange({ ...add, body: { nad, iface } })}>
          Add NIC…
        </ReasonedButton>
      </div>
    </section>
  );
}
