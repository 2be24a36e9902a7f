import { t } from '@lingui/core/macro';
import type { HardwareDiskView, HardwareNicView, HardwareView } from '@headgate/api-contracts';
import type { ReactNode } from 'react';
import { readableQuantity, readableSizes } from '../../../shared/quantity/quantity.js';
import { Table } from '../../../shared/ui/table.js';
import { deviceRows, diskRows, newRows, nicRows, sizeRows, textOf, type Row } from '../hardware-rows.js';
import { applyingReason } from './applying-changes.js';
import { BoxButton, BoxInput, HardwareRow, type TableState } from './hardware-row.js';
import { PlacementRows, StartRows } from './start-rows.js';
import { Data } from '../../../shared/ui/data.js';

interface HardwareTableProps {
  table: TableState;
  hardware: HardwareView;
}

/** The hardware as one table that is edited in place. */
export function HardwareTable({ table, hardware }: HardwareTableProps) {
  return (
    <Table
      label={t`Hardware`}
      className="hg-hardware"
      columns={[t`Device`, t`What`, t`Value`, t`Takes effect`, t`Actions`]}
    >
      <Group label={t`Processor and memory`} />
      <SizeRows table={table} hardware={hardware} />
      {canChange(hardware, 'attach-volume') ? (
        <DeviceRows table={table} hardware={hardware} />
      ) : (
        <DeviceFacts hardware={hardware} />
      )}
    </Table>
  );
}

/** Whether changes of a kind are possible: some machines have fewer than VMs. */
const canChange = ({ changes }: HardwareView, kind: string): boolean => changes?.includes(kind) ?? true;

/** Disks, cards, the start and the placement, which are edited in place. */
function DeviceRows({ table, hardware }: HardwareTableProps) {
  const { drafts } = table;
  return (
    <>
      <Group label={t`Disks and drives`} />
      {hardware.disks.length === 0 && <Empty text={t`No disks`} />}
      {diskRows(hardware).map(({ disk, name, row }) => (
        <DiskRow key={row.id} table={table} disk={disk} name={name} row={row} vmName={table.vm.name} />
      ))}
      {newRows('disk', drafts).map((row) => (
        <NewDiskRow key={row.id} table={table} row={row} />
      ))}
      <Group label={t`Network cards`} />
      {hardware.nics.length === 0 && <Empty text={t`No NICs`} />}
      {nicRows(hardware).map(({ nic, row }) => (
        <NicRow key={row.id} table={table} nic={nic} row={row} />
      ))}
      {newRows('NIC', drafts).map((row) => (
        <NewNicRow key={row.id} table={table} row={row} />
      ))}
      <Group label={t`Start`} />
      <StartRows table={table} hardware={hardware} />
      <Group label={t`Placement and host devices`} />
      <PlacementRows table={table} hardware={hardware} />
      {deviceRows(hardware).map(({ device, row }) => (
        <HardwareRow
          key={row.id}
          table={table}
          row={row}
          name={device.name}
          isDevice
          what={t`Host device`}
          value={<Data>{device.device}</Data>}
          actions={
            <BoxButton table={table} row={row} box="removal" text="remove" label={t`Detach ${device.name}`}>
              {t`Detach`}
            </BoxButton>
          }
        />
      ))}
      {newRows('device', drafts).map((row) => (
        <NewRow key={row.id} table={table} row={row} label={labelOf(t`New host device`, row)}>
          <BoxInput
            table={table}
            row={row}
            box="device"
            label={labelOf(t`Device of the new host device`, row)}
            placeholder="pci_0000_03_00_0"
          />
        </NewRow>
      ))}
    </>
  );
}

/** Disks and cards that can't be changed here. */
function DeviceFacts({ hardware: { disks, nics } }: { hardware: HardwareView }) {
  return (
    <>
      <Group label={t`Disks and drives`} />
      {disks.length === 0 && <Empty text={t`No disks`} />}
      {disks.map(({ device, pvc, bus, size }) => (
        <Fact key={device} name={device} what={[pvc, bus].filter(Boolean).join(', ')} value={size} />
      ))}
      <Group label={t`Network cards`} />
      {nics.length === 0 && <Empty text={t`No NICs`} />}
      {nics.map(({ iface, nad, mac, model }) => (
        <Fact key={iface} name={iface} what={[model, mac].filter(Boolean).join(', ')} value={nad} />
      ))}
    </>
  );
}

const Fact = ({ name, what, value }: { name: string; what: string; value: string | null }) => (
  <tr translate="no">
    <td>
      <b>{name}</b>
    </td>
    <td className="hg-note">{what}</td>
    <td colSpan={3}>{value === null ? '' : readableSizes(value)}</td>
  </tr>
);

const Group = ({ label }: { label: string }) => (
  <tr className="hg-hardware-group">
    <th scope="colgroup" colSpan={5}>
      {label}
    </th>
  </tr>
);

const Empty = ({ text }: { text: string }) => (
  <tr>
    <td className="hg-note" colSpan={5}>
      {text}
    </td>
  </tr>
);

function SizeRows({ table, hardware }: HardwareTableProps) {
  const { cpu, memory } = sizeRows(hardware);
  const { maxCpu, maxMem } = hardware;
  const waiting = applyingReason(hardware);
  const sized: TableState =
    waiting === undefined ? table : { ...table, stateOf: (row) => ({ ...table.stateOf(row), problem: waiting }) };
  return (
    <>
      <HardwareRow
        table={sized}
        row={cpu}
        name={t`CPUs`}
        what={maxCpu === null ? '' : t`up to ${maxCpu} while it runs`}
        value={<BoxInput table={sized} row={cpu} box="count" label={t`CPUs`} />}
      />
      <HardwareRow
        table={sized}
        row={memory}
        name={t`Memory`}
        what={maxMem === null ? '' : t`up to ${readableQuantity(maxMem)} while it runs`}
        value={<BoxInput table={sized} row={memory} box="size" label={t`Memory`} />}
      />
    </>
  );
}

interface DiskRowProps {
  table: TableState;
  disk: HardwareDiskView;
  name: string;
  row: Row;
  vmName: string;
}

function DiskRow({ table, disk, name, row, vmName }: DiskRowProps) {
  const { device, isRoot, type, bus, pvc, size } = disk;
  const reason = isRoot ? t`${vmName} boots from it.` : undefined;
  if (type === 'cdrom') {
    const isEmpty = pvc === null && size === null;
    // A medium that is not a volume has no name, and any draft ejects it.
    return (
      <HardwareRow
        table={table}
        row={row}
        name={device}
        isDevice
        what={t`CD drive, ${bus}`}
        value={<BoxInput table={table} row={row} box="medium" label={t`Volume in ${device}`} placeholder={t`empty`} />}
        actions={
          <BoxButton
            table={table}
            row={row}
            box="medium"
            text={pvc === null ? ' ' : ''}
            label={t`Eject from ${device}`}
            reason={isEmpty ? t`The drive is empty.` : undefined}
          >
            {t`Eject`}
          </BoxButton>
        }
      />
    );
  }
  return (
    <HardwareRow
      table={table}
      row={row}
      name={name}
      isDevice
      what={isRoot ? t`${device}, ${bus}, boots` : <Data>{`${device}, ${bus}`}</Data>}
      value={<BoxInput table={table} row={row} box="size" label={t`Size of ${name}`} />}
      actions={
        <>
          <BoxButton table={table} row={row} box="removal" text="detach" label={t`Detach ${name}`} reason={reason}>
            {t`Detach`}
          </BoxButton>
          <BoxButton table={table} row={row} box="removal" text="delete" label={t`Delete ${name}`} reason={reason}>
            {t`Delete`}
          </BoxButton>
        </>
      }
    />
  );
}

function NicRow({ table, nic: { iface, mac, model }, row }: { table: TableState; nic: HardwareNicView; row: Row }) {
  const link = textOf(row, 'link', table.drafts) === 'up' ? 'up' : 'down';
  const verb = link === 'up' ? t`Disconnect` : t`Connect`;
  return (
    <HardwareRow
      table={table}
      row={row}
      name={iface}
      isDevice
      what={<Data>{[model, mac].filter(Boolean).join(', ')}</Data>}
      value={
        <>
          <BoxInput table={table} row={row} box="network" label={t`Network of ${iface}`} />
          <span className="hg-note">{link === 'up' ? t`connected` : t`disconnected`}</span>
        </>
      }
      actions={
        <>
          <BoxButton
            table={table}
            row={row}
            box="link"
            text={link === 'up' ? 'down' : 'up'}
            label={link === 'up' ? t`Disconnect ${iface}` : t`Connect ${iface}`}
          >
            {verb}
          </BoxButton>
          <BoxButton table={table} row={row} box="removal" text="remove" label={t`Remove ${iface}`}>
            {t`Remove`}
          </BoxButton>
        </>
      }
    />
  );
}

interface NewRowProps {
  table: TableState;
  row: Row;
  label: string;
  children: ReactNode;
}

/** An empty row in which the user types another device. Readers have none. */
function NewRow({ table, row, label, children }: NewRowProps) {
  if (table.refusal !== undefined && Object.values(row.boxes).every(({ field }) => table.drafts[field] === undefined))
    return null;
  return <HardwareRow table={table} row={row} name={label} value={children} />;
}

/** The first one has no number. */
const labelOf = (label: string, { id }: Row): string => {
  const number = id.split(' ').at(-1);
  return number === '1' ? label : `${label} ${number}`;
};

const NewDiskRow = ({ table, row }: { table: TableState; row: Row }) => (
  <NewRow table={table} row={row} label={labelOf(t`New disk`, row)}>
    <BoxInput table={table} row={row} box="size" label={labelOf(t`Size of the new disk`, row)} placeholder="20Gi" />
    <span className="hg-note">{t`or`}</span>
    <BoxInput table={table} row={row} box="volume" label={labelOf(t`Volume to attach`, row)} placeholder={t`volume`} />
  </NewRow>
);

const NewNicRow = ({ table, row }: { table: TableState; row: Row }) => (
  <NewRow table={table} row={row} label={labelOf(t`New NIC`, row)}>
    <BoxInput table={table} row={row} box="name" label={labelOf(t`Name of the new NIC`, row)} placeholder="eth1" />
    <span className="hg-note">{t`on the network`}</span>
    <BoxInput
      table={table}
      row={row}
      box="network"
      label={labelOf(t`Network of the new NIC`, row)}
      placeholder={t`network`}
    />
  </NewRow>
);
