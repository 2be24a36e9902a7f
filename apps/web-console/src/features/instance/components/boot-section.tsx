import type { HardwareDiskView, HardwareView, VmView } from '@headgate/api-contracts';
import { TextInput } from '../../../shared/ui/inputs.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import type { HardwareChangeRequest } from '../api/hardware-requests.js';
import { useDraft } from '../hardware-drafts.js';

export interface HardwarePartProps {
  readonly vm: VmView;
  readonly hardware: HardwareView;
  /** Why the user may change nothing. */
  readonly refusal: string | undefined;
  readonly onChange: (change: HardwareChangeRequest) => void;
}

interface DriveActionsProps extends Pick<HardwarePartProps, 'vm' | 'refusal' | 'onChange'> {
  readonly drive: HardwareDiskView;
}

/** Inserts a volume into a CD-ROM drive, or ejects it. */
export function DriveActions({ drive: { device, pvc, size }, vm, refusal, onChange }: DriveActionsProps) {
  const draft = `volume for ${device}`;
  const [volume, setVolume] = useDraft(vm, draft);
  const changeMedium = (label: string, medium: string | null): void =>
    onChange({
      title: medium === null ? `Eject ${pvc ?? 'the medium'} from ${device}` : `Insert ${medium} into ${device}`,
      label,
      method: 'POST',
      path: `drives/${encodeURIComponent(device)}`,
      isExtension: true,
      body: { pvc: medium },
      drafts: medium === null ? [] : [draft],
    });
  return (
    <div className="hg-toolbar">
      <TextInput aria-label={`Volume for ${device}`} placeholder="Volume" value={volume} onChange={setVolume} />
      <ReasonedButton
        variant="link"
        aria-label={`Insert into ${device}`}
        reason={refusal ?? (volume.trim() === '' ? 'Enter the name of a volume first.' : undefined)}
        onClick={() => changeMedium('Insert', volume.trim())}
      >
        Insert
      </ReasonedButton>
      <ReasonedButton
        variant="link"
        aria-label={`Eject from ${device}`}
        reason={refusal ?? (pvc === null && size === null ? 'The drive is empty.' : undefined)}
        onClick={() => changeMedium('Eject', null)}
      >
        Eject
      </ReasonedButton>
    </div>
  );
}

/** The devices that the VM boots from, and whether it starts with its host. */
export function BootSection(props: HardwarePartProps) {
  const { vm, hardware, refusal, onChange } = props;
  const { autostart } = hardware;
  const verb = autostart === true ? 'Turn off' : 'Turn on';
  return (
    <section aria-label="Boot" className="hg-section">
      <BootOrder {...props} />
      <div className="hg-toolbar">
        <span>
          {autostart === null
            ? 'This context has no autostart'
            : autostart
              ? 'Starts with its host'
              : 'Does not start with its host'}
        </span>
        <ReasonedButton
          variant="secondary"
          reason={refusal ?? (autostart === null ? 'Autostart is not available in this context.' : undefined)}
          onClick={() =>
            onChange({
              title: `${verb} autostart of ${vm.name}`,
              label: verb,
              method: 'POST',
              path: 'autostart',
              isExtension: true,
              body: { on: autostart !== true },
            })
          }
        >
          {verb} autostart…
        </ReasonedButton>
      </div>
    </section>
  );
}

function BootOrder({ vm, hardware, refusal, onChange }: HardwarePartProps) {
  const [text, setText] = useDraft(vm, 'boot order', hardware.bootOrder.join());
  // The name of a device has no comma.
  const order = text.split(',').filter((device) => device !== '');
  const setOrder = (devices: readonly string[]): void => setText(devices.join());
  const devices = [...hardware.disks.map(({ device }) => device), ...hardware.nics.map(({ iface }) => iface)];
  const others = devices.filter((device) => !order.includes(device));
  const isUnchanged = order.join() === hardware.bootOrder.join();
  /** Swaps a device with the next one. */
  const swap = (first: number): void => {
    const [before, pair, after] = [order.slice(0, first), order.slice(first, first + 2), order.slice(first + 2)];
    setOrder([...before, ...pair.reverse(), ...after]);
  };
  const reason =
    order.length === 0 ? 'Choose at least one device.' : isUnchanged ? 'Change the order first.' : undefined;
  return (
    <>
      <h2>Boot order</h2>
      <ol aria-label="Boot order">
        {order.map((device, index) => (
          <li key={device} className="hg-toolbar">
            <span>
              {index + 1}. {device}
            </span>
            <ReasonedButton
              variant="link"
              aria-label={`Move ${device} up`}
              reason={refusal ?? (index === 0 ? 'It is the first device.' : undefined)}
              onClick={() => swap(index - 1)}
            >
              Up
            </ReasonedButton>
            <ReasonedButton
              variant="link"
              aria-label={`Move ${device} down`}
              reason={refusal ?? (index === order.length - 1 ? 'It is the last device.' : undefined)}
              onClick={() => swap(index)}
            >
              Down
            </ReasonedButton>
            <ReasonedButton
              variant="link"
              aria-label={`Remove ${device} from the boot order`}
              reason={refusal}
              onClick={() => setOrder(order.filter((other) => other !== device))}
            >
              Remove
            </ReasonedButton>
          </li>
        ))}
      </ol>
      <div className="hg-toolbar hg-gap-below">
        {others.map((device) => (
          <ReasonedButton key={device} variant="link" reason={refusal} onClick={() => setOrder([...order, device])}>
            Boot from {device}
          </ReasonedButton>
        ))}
        <ReasonedButton
          variant="secondary"
          reason={refusal ?? reason}
          onClick={() =>
            onChange({
              title: `Change the boot order of ${vm.name}`,
              label: 'Change',
              method: 'POST',
              path: 'boot-order',
              isExtension: true,
              body: { devices: order },
              drafts: ['boot order'],
            })
          }
        >
          Change boot order…
        </ReasonedButton>
      </div>
    </>
  );
}
