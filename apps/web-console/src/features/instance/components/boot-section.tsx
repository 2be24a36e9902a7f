import { t } from '@lingui/core/macro';
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
      title:
        medium === null
          ? pvc === null
            ? t`Eject the medium from ${device}`
            : t`Eject ${pvc} from ${device}`
          : t`Insert ${medium} into ${device}`,
      label,
      method: 'POST',
      path: `drives/${encodeURIComponent(device)}`,
      isExtension: true,
      body: { pvc: medium },
      drafts: medium === null ? [] : [draft],
    });
  return (
    <div className="hg-toolbar">
      <TextInput aria-label={t`Volume for ${device}`} placeholder={t`Volume`} value={volume} onChange={setVolume} />
      <ReasonedButton
        variant="link"
        aria-label={t`Insert into ${device}`}
        reason={refusal ?? (volume.trim() === '' ? t`Enter the name of a volume first.` : undefined)}
        onClick={() => changeMedium(t`Insert`, volume.trim())}
      >
        {t`Insert`}
      </ReasonedButton>
      <ReasonedButton
        variant="link"
        aria-label={t`Eject from ${device}`}
        reason={refusal ?? (pvc === null && size === null ? t`The drive is empty.` : undefined)}
        onClick={() => changeMedium(t`Eject`, null)}
      >
        {t`Eject`}
      </ReasonedButton>
    </div>
  );
}

/** The devices that the VM boots from, and whether it starts with its host. */
export function BootSection(props: HardwarePartProps) {
  const { vm, hardware, refusal, onChange } = props;
  const { autostart } = hardware;
  const verb = autostart === true ? t`Turn off` : t`Turn on`;
  return (
    <section aria-label={t`Boot`} className="hg-section">
      <BootOrder {...props} />
      <div className="hg-toolbar">
        <span>
          {autostart === null
            ? t`This context has no autostart`
            : autostart
              ? t`Starts with its host`
              : t`Does not start with its host`}
        </span>
        <ReasonedButton
          variant="secondary"
          reason={refusal ?? (autostart === null ? t`Autostart is not available in this context.` : undefined)}
          onClick={() =>
            onChange({
              title: autostart === true ? t`Turn off autostart of ${vm.name}` : t`Turn on autostart of ${vm.name}`,
              label: verb,
              method: 'POST',
              path: 'autostart',
              isExtension: true,
              body: { on: autostart !== true },
            })
          }
        >
          {autostart === true ? t`Turn off autostart…` : t`Turn on autostart…`}
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
    order.length === 0 ? t`Choose at least one device.` : isUnchanged ? t`Change the order first.` : undefined;
  return (
    <>
      <h2>{t`Boot order`}</h2>
      <ol aria-label={t`Boot order`}>
        {order.map((device, index) => (
          <li key={device} className="hg-toolbar">
            <span>
              {index + 1}. {device}
            </span>
            <ReasonedButton
              variant="link"
              aria-label={t`Move ${device} up`}
              reason={refusal ?? (index === 0 ? t`It is the first device.` : undefined)}
              onClick={() => swap(index - 1)}
            >
              {t`Up`}
            </ReasonedButton>
            <ReasonedButton
              variant="link"
              aria-label={t`Move ${device} down`}
              reason={refusal ?? (index === order.length - 1 ? t`It is the last device.` : undefined)}
              onClick={() => swap(index)}
            >
              {t`Down`}
            </ReasonedButton>
            <ReasonedButton
              variant="link"
              aria-label={t`Remove ${device} from the boot order`}
              reason={refusal}
              onClick={() => setOrder(order.filter((other) => other !== device))}
            >
              {t`Remove`}
            </ReasonedButton>
          </li>
        ))}
      </ol>
      <div className="hg-toolbar hg-gap-below">
        {others.map((device) => (
          <ReasonedButton key={device} variant="link" reason={refusal} onClick={() => setOrder([...order, device])}>
            {t`Boot from ${device}`}
          </ReasonedButton>
        ))}
        <ReasonedButton
          variant="secondary"
          reason={refusal ?? reason}
          onClick={() =>
            onChange({
              title: t`Change the boot order of ${vm.name}`,
              label: t`Change`,
              method: 'POST',
              path: 'boot-order',
              isExtension: true,
              body: { devices: order },
              drafts: ['boot order'],
            })
          }
        >
          {t`Change boot order…`}
        </ReasonedButton>
      </div>
    </>
  );
}
