import { t } from '@lingui/core/macro';
import type { PlacementDto } from '@headgate/api-contracts';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { useDraft } from '../hardware-drafts.js';
import type { HardwarePartProps } from './boot-section.js';

/** The CPUs and pages of the host on which the VM runs. */
export function PlacementSection(props: HardwarePartProps) {
  const { dedicated, pinning } = props.hardware.placement;
  return (
    <section aria-label={t`Placement`} className="hg-section">
      <h2>{t`Placement`}</h2>
      <p className="hg-note">
        {t`Changes that can't be applied to the running VM take effect at its next start. Only administrators can change the placement.`}
      </p>
      {dedicated && <DedicatedCpus {...props} />}
      {pinning && <CpuPins {...props} />}
      <Hugepages {...props} />
    </section>
  );
}

const changeOf = (title: string, label: string, body: PlacementDto) =>
  ({ title, label, method: 'POST', path: 'placement', isExtension: true, body }) as const;

function DedicatedCpus({ vm, hardware: { placement }, refusal, onChange }: HardwarePartProps) {
  const isOn = placement.dedicated?.on === true;
  const isIsolated = placement.dedicated?.isolateEmulator === true;
  const verb = isOn ? t`Share` : t`Reserve`;
  return (
    <div className="hg-toolbar">
      <span>{isOn ? t`Has dedicated CPUs` : t`Shares the CPUs of its node`}</span>
      <ReasonedButton
        variant="secondary"
        reason={refusal}
        onClick={() =>
          onChange(
            changeOf(isOn ? t`Share CPUs of ${vm.name}` : t`Reserve CPUs of ${vm.name}`, verb, {
              dedicated: isOn ? { on: false, isolateEmulator: false, numa: false } : { on: true },
            }),
          )
        }
      >
        {isOn ? t`Share CPUs…` : t`Reserve CPUs…`}
      </ReasonedButton>
      <ReasonedButton
        variant="secondary"
        reason={refusal ?? (isOn ? undefined : t`Reserve CPUs first.`)}
        onClick={() =>
          onChange(
            changeOf(t`Change the emulator of ${vm.name}`, t`Change`, { dedicated: { isolateEmulator: !isIsolated } }),
          )
        }
      >
        {isIsolated ? t`Run the emulator on the same CPUs…` : t`Give the emulator its own CPU…`}
      </ReasonedButton>
    </div>
  );
}

/** `0:2-3 1:4`: CPU 0 of the VM runs on the CPUs 2 and 3 of the host. */
const formatPins = (pins: readonly { vcpu: number; cpus: string }[]): string =>
  pins.map(({ vcpu, cpus }) => `${vcpu}:${cpus}`).join(' ');

/** @returns undefined if the text has another form */
function parsePins(text: string): { vcpu: number; cpus: string }[] | undefined {
  const parts = text.split(/\s+/).filter((part) => part !== '');
  const pins = parts.flatMap((part) => {
    const [, vcpu, cpus] = /^(\d{1,3}):([\d,-]+)$/.exec(part) ?? [];
    return vcpu === undefined || cpus === undefined ? [] : [{ vcpu: Number(vcpu), cpus }];
  });
  return pins.length === parts.length ? pins : undefined;
}

function CpuPins({ vm, hardware: { placement }, refusal, onChange }: HardwarePartProps) {
  const { pinning } = placement;
  const before = { pins: formatPins(pinning?.vcpus ?? []), emulator: pinning?.emulatorCpus ?? '' };
  const [pins, setPins] = useDraft(vm, 'pins', before.pins);
  const [emulator, setEmulator] = useDraft(vm, 'emulator', before.emulator);
  const [nodes, setNodes] = useDraft(vm, 'nodes', pinning?.memory?.nodes ?? '');
  const parsed = parsePins(pins);
  const hasOtherNodes = nodes.trim() !== (pinning?.memory?.nodes ?? '');
  const settings = {
    ...(pins.trim() !== before.pins && parsed && { vcpus: parsed }),
    ...(emulator.trim() !== before.emulator && { emulatorCpus: emulator.trim() || null }),
    ...(hasOtherNodes && { memory: nodes.trim() === '' ? null : { mode: 'strict' as const, nodes: nodes.trim() } }),
  };
  const reason =
    refusal ??
    (parsed === undefined ? t`Write pins such as 0:2-3 1:4.` : undefined) ??
    (Object.keys(settings).length === 0 ? t`Change the CPUs or the NUMA nodes first.` : undefined);
  return (
    <div className="hg-toolbar hg-toolbar--fields">
      <LabeledInput label={t`CPU pins`} placeholder="0:2-3 1:4" value={pins} onChange={setPins} />
      <LabeledInput label={t`CPUs of the emulator`} placeholder={t`any`} value={emulator} onChange={setEmulator} />
      <LabeledInput label={t`NUMA nodes of the memory`} placeholder={t`any`} value={nodes} onChange={setNodes} />
      <ReasonedButton
        variant="secondary"
        reason={reason}
        onClick={() =>
          onChange({
            ...changeOf(t`Pin the CPUs of ${vm.name}`, t`Pin`, { pinning: settings }),
            drafts: ['pins', 'emulator', 'nodes'],
          })
        }
      >
        {t`Pin CPUs…`}
      </ReasonedButton>
    </div>
  );
}

function Hugepages({ vm, hardware: { placement }, refusal, onChange }: HardwarePartProps) {
  const [size, setSize] = useDraft(vm, 'hugepages', placement.hugepages ?? '');
  const isSame = size.trim() === (placement.hugepages ?? '');
  return (
    <div className="hg-toolbar hg-toolbar--fields">
      <LabeledInput label={t`Size of hugepages`} placeholder={t`ordinary pages`} value={size} onChange={setSize} />
      <ReasonedButton
        variant="secondary"
        reason={refusal ?? (isSame ? t`Change the size first.` : undefined)}
        onClick={() =>
          onChange({
            ...changeOf(t`Change the hugepages of ${vm.name}`, t`Change`, { hugepages: size.trim() || null }),
            drafts: ['hugepages'],
          })
        }
      >
        {t`Change pages…`}
      </ReasonedButton>
    </div>
  );
}
