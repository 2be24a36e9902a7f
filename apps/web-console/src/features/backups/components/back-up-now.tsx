import { t } from '@lingui/core/macro';
import type { BackupTargetView, VmView } from '@headgate/api-contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { getJson } from '../../../shared/api/request.js';
import { BackUpPanel } from '../../../shared/backups/components/back-up-panel.js';
import { contextNamed, unavailableReason, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { Button } from '../../../shared/ui/button.js';
import { Dialog } from '../../../shared/ui/dialog.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { Spinner } from '../../../shared/ui/loading.js';

interface BackUpNowProps {
  targets: readonly BackupTargetView[];
  onClose: () => void;
}

/** Chooses a VM, and shows the plan of its backup. */
export function BackUpNow({ targets, onClose }: BackUpNowProps) {
  const [ref, setRef] = useState('');
  const [isPlanned, setIsPlanned] = useState(false);
  const { data: capabilities } = useCapabilities();
  const vms = useQuery({
    queryKey: ['backups', 'vms'],
    queryFn: ({ signal }) => getJson('/api/vms', { signal }),
  });
  const lacks = ({ context }: VmView): string | undefined =>
    unavailableReason(contextNamed(capabilities, context), 'backupSource');
  const all = [...(vms.data ?? [])].sort((a, b) => a.name.localeCompare(b.name));
  const chosen = all.find((vm) => vm.ref === ref);
  if (isPlanned && chosen) return <BackUpPanel vm={chosen} targets={targets} onClose={onClose} />;
  return (
    <Dialog
      title={t`Back up a VM`}
      description={t`All of its disks as they are at one moment. A VM that runs goes on running.`}
      onClose={onClose}
      onSubmit={() => chosen && setIsPlanned(true)}
      footer={
        <>
          <Button type="submit" isDisabled={!chosen}>
            {t`Continue`}
          </Button>
          <Button variant="link" onClick={onClose}>
            {t`Cancel`}
          </Button>
        </>
      }
    >
      {vms.error && (
        <ErrorAlert title={t`Couldn't load the VMs`} error={vms.error} onRetry={() => void vms.refetch()} />
      )}
      {vms.isPending && <Spinner label={t`Loading the VMs`} />}
      {vms.data && (
        <Field
          label={t`VM`}
          id="back-up-vm"
          required
          hint={all.length > 0 && all.every(lacks) ? t`No context of these VMs has backups.` : undefined}
        >
          <SelectInput id="back-up-vm" value={ref} aria-describedby={helpId('back-up-vm')} onChange={setRef}>
            <option value="">{t`Choose a VM`}</option>
            {all.map((vm) => (
              <option key={vm.ref} value={vm.ref} disabled={lacks(vm) !== undefined} translate="no">
                {`${vm.name} (${vm.context})`}
              </option>
            ))}
          </SelectInput>
        </Field>
      )}
    </Dialog>
  );
}
