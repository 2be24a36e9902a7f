import { t } from '@lingui/core/macro';
import type { HardwareView, VmView } from '@headgate/api-contracts';
import { PeekFacts } from '../../../shared/instances/peek-facts.js';
import { readableQuantity, readableSizes } from '../../../shared/quantity/quantity.js';
import { contextNamed, unavailableReason, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { Data } from '../../../shared/ui/data.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { TagList } from '../../../shared/ui/tag-list.js';
import { useHardware } from '../api/hardware-requests.js';
import { useGuestInfo } from '../api/use-guest-info.js';

/** The guest, the size with what waits for a restart, the disks and the network. The entry has the size already. */
export function PeekHardware({ vm, isWanted }: { vm: VmView; isWanted: boolean }) {
  const { data: capabilities } = useCapabilities();
  const context = contextNamed(capabilities, vm.context);
  const hasHardware = context !== undefined && unavailableReason(context, 'hardware') === undefined;
  const hardware = useHardware(vm, isWanted && hasHardware);
  const guest = useGuestInfo(vm, isWanted && vm.running && vm.agentConnected);
  const os = guest.data?.os;
  return (
    <>
      <PeekFacts
        facts={{
          [t`Guest`]: os && <Data>{[os.prettyName || os.name, os.hostname].filter(Boolean).join(', ')}</Data>,
          [t`Size`]: (
            <>
              {`${vm.cpu} CPUs, ${readableQuantity(vm.mem)}`}
              {hardware.data?.pending.map(({ field, configured }) => (
                <span key={field} className="hg-peek-pending">
                  {configured === ''
                    ? t`${field}: removed at restart`
                    : t`${field}: ${readableSizes(configured)} at restart`}
                </span>
              ))}
            </>
          ),
          [t`Disks`]: <Data>{disksOf(vm, hardware.data)}</Data>,
          [t`Network`]: networkOf(vm, hardware.data),
          [t`Tags`]: vm.tags.length > 0 ? <TagList tags={vm.tags} /> : undefined,
          [t`Folder`]: vm.folder && <Data>{vm.folder}</Data>,
        }}
      />
      {hardware.error && (
        <ErrorAlert
          title={t`Couldn't load the hardware`}
          error={hardware.error}
          onRetry={() => void hardware.refetch()}
        />
      )}
      {guest.error && (
        <ErrorAlert
          title={t`Couldn't read the guest information`}
          error={guest.error}
          onRetry={() => void guest.refetch()}
        />
      )}
    </>
  );
}

const disksOf = ({ disk }: VmView, hardware: HardwareView | undefined): string => {
  const disks = hardware?.disks.filter(({ type }) => type === 'disk') ?? [];
  if (disks.length === 0) return readableQuantity(disk);
  return disks
    .map(({ device, pvc, size }) => [pvc ?? device, size === null ? '' : readableQuantity(size)].join(' ').trim())
    .join(', ');
};

const networkOf = ({ ip }: VmView, hardware: HardwareView | undefined): string | undefined => {
  const networks = hardware?.nics.map(({ nad }) => nad).join(', ') ?? '';
  return [ip, networks && t`on ${networks}`].filter(Boolean).join(' ') || undefined;
};
