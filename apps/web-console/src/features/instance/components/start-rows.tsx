import { t } from '@lingui/core/macro';
import type { HardwareView } from '@headgate/api-contracts';
import { readableQuantity } from '../../../shared/quantity/quantity.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { setDraft } from '../hardware-drafts.js';
import { isChanged, placementRows, startRows, textOf, type Row } from '../hardware-rows.js';
import { BoxButton, BoxInput, HardwareRow, type TableState } from './hardware-row.js';

interface RowsProps {
  table: TableState;
  hardware: HardwareView;
}

/** The devices that the VM boots from, and whether it starts with its host. */
export function StartRows({ table, hardware }: RowsProps) {
  const { order, autostart } = startRows(hardware);
  const isOn = textOf(autostart, 'on', table.drafts) === 'on';
  return (
    <>
      <HardwareRow
        table={table}
        row={order}
        name={t`Boot order`}
        value={<BootOrder table={table} hardware={hardware} row={order} />}
      />
      <HardwareRow
        table={table}
        row={autostart}
        name={t`Autostart`}
        value={
          hardware.autostart === null
            ? t`This context has no autostart`
            : isOn
              ? t`Starts with its host`
              : t`Does not start with its host`
        }
        actions={
          <BoxButton
            table={table}
            row={autostart}
            box="on"
            text={isOn ? 'off' : 'on'}
            label={isOn ? t`Turn off autostart` : t`Turn on autostart`}
            reason={hardware.autostart === null ? t`Autostart is not available in this context.` : undefined}
          >
            {isOn ? t`Turn off` : t`Turn on`}
          </BoxButton>
        }
      />
    </>
  );
}

function BootOrder({ table, hardware, row }: RowsProps & { row: Row }) {
  const { vm, drafts, refusal } = table;
  // The name of a device has no comma.
  const order = textOf(row, 'devices', drafts).split(',').filter(Boolean);
  const { field = '', saved = '' } = row.boxes['devices'] ?? {};
  const setOrder = (devices: readonly string[]): void => setDraft(vm, field, devices.join(), saved);
  const devices = [...hardware.disks.map(({ device }) => device), ...hardware.nics.map(({ iface }) => iface)];
  const others = devices.filter((device) => !order.includes(device));
  /** Swaps a device with the next one. */
  const swap = (first: number): void => {
    const [before, pair, after] = [order.slice(0, first), order.slice(first, first + 2), order.slice(first + 2)];
    setOrder([...before, ...pair.reverse(), ...after]);
  };
  return (
    <div>
      <ol aria-label={t`Boot order`}>
        {order.map((device, index) => (
          <li key={device} className="hg-toolbar">
            <span translate="no">
              {index + 1}. {device}
            </span>
            {refusal === undefined && (
              <>
                <ReasonedButton
                  variant="link"
                  aria-label={t`Move ${device} up`}
                  reason={index === 0 ? t`It is the first device.` : undefined}
                  onClick={() => swap(index - 1)}
                >
                  {t`Up`}
                </ReasonedButton>
                <ReasonedButton
                  variant="link"
                  aria-label={t`Move ${device} down`}
                  reason={index === order.length - 1 ? t`It is the last device.` : undefined}
                  onClick={() => swap(index)}
                >
                  {t`Down`}
                </ReasonedButton>
                <ReasonedButton
                  variant="link"
                  aria-label={t`Remove ${device} from the boot order`}
                  onClick={() => setOrder(order.filter((other) => other !== device))}
                >
                  {t`Remove`}
                </ReasonedButton>
              </>
            )}
          </li>
        ))}
      </ol>
      <div className="hg-toolbar">
        {refusal === undefined &&
          others.map((device) => (
            <ReasonedButton key={device} variant="link" onClick={() => setOrder([...order, device])}>
              {t`Boot from ${device}`}
            </ReasonedButton>
          ))}
      </div>
    </div>
  );
}

/** The CPUs and pages of the host on which the VM runs. */
export function PlacementRows({ table, hardware }: RowsProps) {
  const { dedicated, pins, pages } = placementRows(hardware);
  return (
    <>
      {dedicated && <DedicatedRow table={table} row={dedicated} />}
      {pins && (
        <HardwareRow
          table={table}
          row={pins}
          name={t`CPU pins`}
          what={t`CPU of the machine:CPUs of the host`}
          value={
            <>
              <BoxInput table={table} row={pins} box="pins" label={t`CPU pins`} placeholder="0:2-3 1:4" />
              <span className="hg-note">{t`emulator`}</span>
              <BoxInput table={table} row={pins} box="emulator" label={t`CPUs of the emulator`} placeholder={t`any`} />
              <span className="hg-note">{t`memory`}</span>
              <BoxInput table={table} row={pins} box="nodes" label={t`NUMA nodes of the memory`} placeholder={t`any`} />
            </>
          }
        />
      )}
      <HardwareRow
        table={table}
        row={pages}
        name={t`Hugepages`}
        what={
          hardware.placement.hugepages === null ? t`ordinary pages` : readableQuantity(hardware.placement.hugepages)
        }
        value={
          <BoxInput table={table} row={pages} box="size" label={t`Size of hugepages`} placeholder={t`ordinary pages`} />
        }
      />
    </>
  );
}

function DedicatedRow({ table, row }: { table: TableState; row: Row }) {
  const { drafts } = table;
  const isOn = textOf(row, 'on', drafts) === 'on';
  const isIsolated = isOn && textOf(row, 'emulator', drafts) === 'on';
  const emulator = (
    <BoxButton
      table={table}
      row={row}
      box="emulator"
      text={isIsolated ? 'off' : 'on'}
      label={isIsolated ? t`Share the CPU of the emulator` : t`Isolate the emulator`}
      reason={isOn ? undefined : t`Reserve CPUs first.`}
    >
      {isIsolated ? t`Share the CPU of the emulator` : t`Isolate the emulator`}
    </BoxButton>
  );
  return (
    <HardwareRow
      table={table}
      row={row}
      name={t`Dedicated CPUs`}
      value={
        <>
          {!isOn
            ? t`Shares the CPUs of its node`
            : isIsolated
              ? t`Has dedicated CPUs, and one for the emulator`
              : t`Has dedicated CPUs`}
          {isOn && isChanged(row, drafts) && emulator}
        </>
      }
      actions={
        <>
          <BoxButton
            table={table}
            row={row}
            box="on"
            text={isOn ? 'off' : 'on'}
            label={isOn ? t`Share CPUs` : t`Reserve CPUs`}
          >
            {isOn ? t`Share` : t`Reserve`}
          </BoxButton>
          {emulator}
        </>
      }
    />
  );
}
