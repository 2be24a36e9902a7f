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
      title: `Pass ${name} through to ${vm.name}`,
      label: 'Attach',
      method: 'POST',
      path: 'devices',
      isExtension: true,
      body: { device: name },
      drafts: name === device.trim() ? ['host device'] : [],
    });
  return (
    <section aria-label="Host devices" className="hg-section">
      <h2>Host devices</h2>
      {hardware.hostDevices.length > 0 && (
        <Table label="Host devices" columns={['Name', 'Device', 'Actions']}>
          {hardware.hostDevices.map(({ name, device: source }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{source}</td>
              <td>
                <ReasonedButton
                  variant="link"
                  aria-label={`Detach ${name}`}
                  reason={refusal}
                  onClick={() =>
                    onChange({
                      title: `Detach ${name} from ${vm.name}`,
                      label: 'Detach',
                      method: 'DELETE',
                      path: `devices/${encodeURIComponent(name)}`,
                      isExtension: true,
                    })
                  }
                >
                  Detach
                </ReasonedButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <div className="hg-toolbar hg-toolbar--fields">
        <LabeledInput label="Device to attach" placeholder="pci_0000_03_00_0" value={device} onChange={setDevice} />
        <ReasonedButton
          variant="secondary"
          reason={refusal ?? (device.trim() === '' ? 'Enter the name of a device first.' : undefined)}
          onClick={() => attach(device.trim())}
        >
          Attach device…
        </ReasonedButton>
        <ReasonedButton variant="secondary" reason={refusal} onClick={() => setIsListed(true)}>
          List devices
        </ReasonedButton>
      </div>
      {error && <ErrorAlert title="Couldn't list the devices" error={error} onRetry={() => void refetch()} />}
      {data && (
        <Table label="Devices of the host" columns={['Device', 'Description', 'Node', 'Used by', 'Actions']}>
          {data.devices.map(({ name, label, node, usedBy, refusal: why }) => (
            <tr key={`${node} ${name}`}>
              <td>{name}</td>
              <td>{label}</td>
              <td>{node}</td>
              <td>{usedBy.join(', ')}</td>
              <td>
                <ReasonedButton
                  variant="link"
                  aria-label={`Attach ${name}`}
                  reason={refusal ?? why ?? undefined}
                  onClick={() => attach(name)}
                >
                  Attach
                </ReasonedButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
