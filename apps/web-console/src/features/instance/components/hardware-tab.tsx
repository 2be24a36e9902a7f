import { t } from '@lingui/core/macro';
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
import { perLanguage } from '../../../shared/texts/per-language.js';

/** The body of the notice after a change that the guest does not have yet. */
const applyingHint = perLanguage(
  () => t`A live migration applies the change. The guest has it when the migration has ended.`,
);

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
  if (error) return <ErrorAlert title={t`Couldn't load the hardware`} error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height="20rem" label={t`Loading the hardware`} />;
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
          failure={t`Couldn't change the hardware`}
          isDanger={change.isDanger ?? false}
          preview={() => previewHardware(vm, change)}
          run={() => changeHardware(vm, change)}
          onClose={() => setChange(undefined)}
          onDone={({ task, applying = [] }) => {
            setChange(undefined);
            endDrafts(vm, change.drafts ?? []);
            if (task !== undefined) trackTask(task);
            else if (applying.length > 0)
              notify({ variant: 'info', title: t`${vm.name} is being changed`, body: applyingHint() });
            else notify({ variant: 'success', title: t`Changed the hardware of ${vm.name}` });
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
      <span className="hg-note">{t`Some changes are not applied yet`}</span>
      <Button variant="link" onClick={() => discardDrafts(vm)}>
        {t`Discard changes`}
      </Button>
    </>
  );
}

function Pending({ hardware: { pending } }: { hardware: HardwareView }) {
  if (pending.length === 0) return <span className="hg-note">{t`No changes are waiting for a restart`}</span>;
  return (
    <ul className="hg-note" aria-label={t`Changes that take effect after a restart`}>
      {pending.map(({ field, running, configured }) => (
        <li key={field}>
          {t`${field}: ${readableSizes(running) || t`none`} now, ${readableSizes(configured) || t`none`} after a restart`}
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
  const scale = { label: t`Scale`, method: 'POST', path: 'scale', drafts: ['cpu', 'mem'] } as const;
  const reason =
    refusal ??
    applyingReason(hardware) ??
    (Object.keys(body).length === 0 ? t`Change the CPUs or the memory first.` : undefined);
  return (
    <section aria-label={t`Size`} className="hg-section">
      <h2>{t`Size`}</h2>
      <div className="hg-toolbar hg-toolbar--fields">
        <LabeledInput label="CPUs" value={cpu} onChange={setCpu} />
        <LabeledInput label={t`Memory`} value={mem} onChange={setMem} />
        <ReasonedButton
          variant="secondary"
          reason={reason}
          onClick={() => onChange({ ...scale, title: t`Scale ${vm.name}`, body })}
        >
          {t`Scale…`}
        </ReasonedButton>
      </div>
    </section>
  );
}

function Disks({ vm, hardware, refusal, onChange }: HardwarePartProps) {
  const [size, setSize] = useDraft(vm, 'disk size');
  const drafts = ['disk size'];
  const add = {
    title: t`Add a disk to ${vm.name}`,
    label: t`Add disk`,
    method: 'POST',
    path: 'volumes',
    drafts,
  } as const;
  return (
    <section aria-label={t`Disks`} className="hg-section">
      <h2>{t`Disks`}</h2>
      {hardware.disks.length === 0 && <p className="hg-note">{t`No disks`}</p>}
      {hardware.disks.length > 0 && (
        <Table label={t`Disks`} columns={[t`Device`, t`Volume`, t`Size`, t`Actions`]}>
          {hardware.disks.map((disk) => (
            <DiskRow key={disk.device} disk={disk} {...{ vm, refusal, onChange }} />
          ))}
        </Table>
      )}
      <div className="hg-toolbar hg-toolbar--fields">
        <LabeledInput label={t`Size of the new disk`} placeholder="20Gi" value={size} onChange={setSize} />
        <ReasonedButton
          variant="secondary"
          reason={refusal ?? (size === '' ? t`Enter a size first.` : undefined)}
          onClick={() => onChange({ ...add, body: { size } })}
        >
          {t`Add disk…`}
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
    title: isDeleted ? t`Delete ${name}` : t`Detach ${name}`,
    label: isDeleted ? t`Delete` : t`Detach`,
    isDanger: isDeleted,
    method: 'DELETE',
    path,
    ...(isDeleted && { query: { delete: 'true' } }),
  });
  const expand = {
    title: t`Expand ${name}`,
    label: t`Expand`,
    method: 'POST',
    path: 'expand',
    drafts: [draft],
  } as const;
  return (
    <tr>
      <td>
        {device}
        {isRoot ? t` (root)` : type === 'cdrom' ? ' (CD-ROM)' : ''}
      </td>
      <td>{pvc ?? ''}</td>
      <td>{readableQuantity(disk.size ?? '')}</td>
      <td>
        {type === 'cdrom' && <DriveActions drive={disk} {...{ vm, refusal, onChange }} />}
        {type === 'disk' && (
          <div className="hg-toolbar">
            <TextInput aria-label={t`New size of ${name}`} placeholder={t`New size`} value={size} onChange={setSize} />
            <ReasonedButton
              variant="link"
              aria-label={t`Expand ${name}`}
              reason={refusal ?? (size === '' ? t`Enter a size first.` : undefined)}
              onClick={() => onChange({ ...expand, body: { pvc: name, size } })}
            >
              {t`Expand`}
            </ReasonedButton>
            {[false, true].map((isDeleted) => (
              <ReasonedButton
                key={String(isDeleted)}
                variant="link"
                aria-label={isDeleted ? t`Delete ${name}` : t`Detach ${name}`}
                reason={refusal ?? (isRoot ? t`${vm.name} boots from it.` : undefined)}
                onClick={() => onChange(detach(isDeleted))}
              >
                {isDeleted ? t`Delete` : t`Detach`}
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
  const add = { title: t`Add a NIC to ${vm.name}`, label: t`Add NIC`, method: 'POST', path: 'nics', drafts } as const;
  const reason = refusal ?? (iface === '' || nad === '' ? t`Enter a name and a network first.` : undefined);
  const ofNic = ({ iface: nic }: HardwareNicView) =>
    ({ path: `nics/${encodeURIComponent(nic)}`, isExtension: true }) as const;
  return (
    <section aria-label={t`NICs`} className="hg-section">
      <h2>{t`NICs`}</h2>
      {hardware.nics.length === 0 && <p className="hg-note">{t`No NICs`}</p>}
      {hardware.nics.length > 0 && (
        <Table label={t`NICs`} columns={[t`Name`, t`Network`, t`MAC address`, t`Link`, t`Actions`]}>
          {hardware.nics.map((nic) => {
            const link = nic.link === 'up' ? ('down' as const) : ('up' as const);
            const verb = link === 'up' ? t`Connect` : t`Disconnect`;
            const change = link === 'up' ? t`Connect ${nic.iface}` : t`Disconnect ${nic.iface}`;
            return (
              <tr key={nic.iface}>
                <td>{nic.iface}</td>
                <td>{nic.nad}</td>
                <td>{nic.mac}</td>
                <td>{nic.link === 'up' ? t`Connected` : t`Disconnected`}</td>
                <td>
                  <ReasonedButton
                    variant="link"
                    aria-label={change}
                    reason={refusal}
                    onClick={() =>
                      onChange({
                        ...ofNic(nic),
                        title: change,
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
                    aria-label={t`Remove ${nic.iface}`}
                    reason={refusal}
                    onClick={() =>
                      onChange({ ...ofNic(nic), title: t`Remove ${nic.iface}`, label: t`Remove`, method: 'DELETE' })
                    }
                  >
                    {t`Remove`}
                  </ReasonedButton>
                </td>
              </tr>
            );
          })}
        </Table>
      )}
      <div className="hg-toolbar hg-toolbar--fields">
        <LabeledInput label={t`Name of the new NIC`} placeholder="eth1" value={iface} onChange={setIface} />
        <LabeledInput label={t`Network of the new NIC`} value={nad} onChange={setNad} />
        <ReasonedButton variant="secondary" reason={reason} onClick={() => onChange({ ...add, body: { nad, iface } })}>
          {t`Add NIC…`}
        </ReasonedButton>
      </div>
    </section>
  );
}
