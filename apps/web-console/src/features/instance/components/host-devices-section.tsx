import { t } from '@lingui/core/macro';
import { useState } from 'react';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { Table } from '../../../shared/ui/table.js';
import { useHostResources } from '../api/hardware-requests.js';
import { useDraft } from '../hardware-drafts.js';
import type { HardwarePartProps } from './boot-section.js';

/** The devices of the host that the VM has, and those that it could have. */
export function HostDevicesSection({ vm, hardware, refusal, onChange }: HardwarePartProps) {
  const [device, setDevice] = useDraft(vm, 'host device');
  const [isListed, setIsListed] = useState(false);
  const { data, error, refetch } = useHostResources(vm, isListed && refusal === undefined);
  const attach = (name: string): void =>
    onChange({
      title: t`Pass ${name} through to ${vm.name}`,
      label: t`Attach`,
      method: 'POST',
      path: 'devices',
      isExtension: true,
      body: { device: name },
      drafts: name === device.trim() ? ['host device'] : [],
    });
  return (
    <section aria-label={t`Host devices`} className="hg-section">
      <h2>{t`Host devices`}</h2>
      {hardware.hostDevices.length > 0 && (
        <Table label={t`Host devices`} columns={[t`Name`, t`Device`, t`Actions`]}>
          {hardware.hostDevices.map(({ name, device: source }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{source}</td>
              <td>
                <ReasonedButton
                  variant="link"
                  aria-label={t`Detach ${name}`}
                  reason={refusal}
                  onClick={() =>
                    onChange({
                      title: t`Detach ${name} from ${vm.name}`,
                      label: t`Detach`,
                      method: 'DELETE',
                      path: `devices/${encodeURIComponent(name)}`,
                      isExtension: true,
                    })
                  }
                >
                  {t`Detach`}
                </ReasonedButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <div className="hg-toolbar hg-toolbar--fields">
        <LabeledInput label={t`Device to attach`} placeholder="pci_0000_03_00_0" value={device} onChange={setDevice} />
        <ReasonedButton
          variant="secondary"
          reason={refusal ?? (device.trim() === '' ? t`Enter the name of a device first.` : undefined)}
          onClick={() => attach(device.trim())}
        >
          {t`Attach device…`}
        </ReasonedButton>
        <ReasonedButton variant="secondary" reason={refusal} onClick={() => setIsListed(true)}>
          {t`List devices`}
        </ReasonedButton>
      </div>
      {error && <ErrorAlert title={t`Couldn't list the devices`} error={error} onRetry={() => void refetch()} />}
      {data && (
        <Table label={t`Devices of the host`} columns={[t`Device`, t`Description`, t`Node`, t`Used by`, t`Actions`]}>
          {data.devices.map(({ name, label, node, usedBy, refusal: why }) => (
            <tr key={`${node} ${name}`}>
              <td>{name}</td>
              <td>{label}</td>
              <td>{node}</td>
              <td>{usedBy.join(', ')}</td>
              <td>
                <ReasonedButton
                  variant="link"
                  aria-label={t`Attach ${name}`}
                  reason={refusal ?? why ?? undefined}
                  onClick={() => attach(name)}
                >
                  {t`Attach`}
                </ReasonedButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
