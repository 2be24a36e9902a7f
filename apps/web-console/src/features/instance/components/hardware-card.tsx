import { t } from '@lingui/core/macro';
import type { ReactNode } from 'react';
import type { HardwareView, PendingSettingView, VmView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { messageOf } from '../../../shared/api/api-error.js';
import { paths } from '../../../shared/location/paths.js';
import { readableQuantity, readableSizes } from '../../../shared/quantity/quantity.js';
import { contextNamed, unavailableReason, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { useHardware } from '../api/hardware-requests.js';
import { FactCard } from './fact-card.js';
import { Data } from '../../../shared/ui/data.js';

/** The size, the disks and the networks of a VM, and what waits for a restart. The entry of the list has the size. */
export function HardwareCard({ vm }: { vm: VmView }) {
  const { data: capabilities } = useCapabilities();
  const context = contextNamed(capabilities, vm.context);
  const isAvailable = context !== undefined && unavailableReason(context, 'hardware') === undefined;
  const { data: hardware, error } = useHardware(vm, isAvailable);
  const pending = hardware?.pending ?? [];
  return (
    <FactCard
      title={t`Hardware`}
      aside={<Link href={paths.vm(vm, 'hardware')}>{t`Edit`}</Link>}
      facts={{
        CPUs: vm.cpu,
        [t`Memory`]: readableQuantity(vm.mem),
        ...(hardware?.disks.some(isDisk) ? disksOf(hardware) : { [t`Boot disk`]: readableQuantity(vm.disk) }),
        [t`Network`]: hardware?.nics.map(({ nad, mac }) => (
          <div key={mac} translate="no">
            {nad} <span className="hg-note">{mac}</span>
          </div>
        )),
      }}
    >
      {error && <p className="hg-note">{messageOf(error)}</p>}
      {pending.length > 0 && <h3>{t`At the next restart`}</h3>}
      {pending.map((setting) => (
        <Pending key={setting.field} {...setting} />
      ))}
    </FactCard>
  );
}

const isDisk = ({ type }: HardwareView['disks'][number]): boolean => type === 'disk';

const disksOf = ({ disks }: HardwareView): Record<string, ReactNode> =>
  Object.fromEntries(
    disks.filter(isDisk).map(({ device, pvc, size }, index) => {
      const text = [size === null ? '' : readableQuantity(size), pvc ?? ''].filter(Boolean).join(', ');
      return [index === 0 ? t`Boot disk` : t`Disk ${device}`, <Data>{text || device}</Data>];
    }),
  );

const Pending = ({ field, running, configured }: PendingSettingView) => (
  <p className="hg-pending">
    {field} {running !== '' && <del>{readableSizes(running)}</del>}
    {' → '}
    <ins>{configured === '' ? t`removed` : readableSizes(configured)}</ins>
  </p>
);
