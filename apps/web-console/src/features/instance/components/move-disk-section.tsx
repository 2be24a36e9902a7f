import { t } from '@lingui/core/macro';
import { contextNamed, unavailableReason, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { useDraft } from '../hardware-drafts.js';
import type { HardwareView, VmView } from '@headgate/api-contracts';
import type { HardwareChangeRequest } from '../api/hardware-requests.js';

interface MoveDiskProps {
  readonly vm: VmView;
  readonly hardware: HardwareView;
  /** Why the user may change nothing. */
  readonly refusal: string | undefined;
  readonly onChange: (change: HardwareChangeRequest) => void;
}

/** Moves a disk of the running VM to another storage. */
export function MoveDiskSection({ vm, hardware, refusal, onChange }: MoveDiskProps) {
  const { data: capabilities } = useCapabilities();
  const [volume, setVolume] = useDraft(vm, 'disk to move');
  const [storage, setStorage] = useDraft(vm, 'target storage');
  const disks = hardware.disks.filter(({ type }) => type === 'disk').map(({ pvc, device }) => pvc ?? device);
  const chosen = volume === '' ? (disks[0] ?? '') : volume;
  const reason =
    unavailableReason(contextNamed(capabilities, vm.context), 'diskMove') ??
    refusal ??
    (vm.running ? undefined : t`Start the VM to move its disk.`) ??
    (storage === '' ? t`Enter a storage pool or class first.` : undefined);
  return (
    <section aria-label={t`Move a disk`} className="hg-section">
      <h2>{t`Move a disk`}</h2>
      <div className="hg-toolbar hg-toolbar--fields">
        <LabeledInput label={t`Disk to move`} value={chosen} onChange={setVolume} />
        <LabeledInput
          label={t`Target storage pool or class`}
          placeholder="fast"
          value={storage}
          onChange={setStorage}
        />
        <ReasonedButton
          variant="secondary"
          reason={reason}
          onClick={() =>
            onChange({
              title: t`Move ${chosen} to ${storage}`,
              label: t`Move`,
              method: 'POST',
              isExtension: true,
              path: `volumes/${encodeURIComponent(chosen)}/move`,
              body: { storage },
              drafts: ['disk to move', 'target storage'],
            })
          }
        >
          {t`Move disk…`}
        </ReasonedButton>
      </div>
    </section>
  );
}
