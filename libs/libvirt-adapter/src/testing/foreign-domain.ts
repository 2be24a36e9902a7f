/** A domain as somebody else might have defined it: no disk, an old-fashioned machine, VNC on TCP, a pty. */
export const foreignDomainXml = ({
  name,
  disks = '',
  extra = '',
}: {
  name: string;
  disks?: string;
  extra?: string;
}): string => `
<domain type='qemu'>
  <name>${name}</name>
  <memory unit='MiB'>64</memory>
  <vcpu>1</vcpu>
  <os><type arch='x86_64' machine='pc'>hvm</type><bios useserial='yes'/></os>
  <features><acpi/></features>
  <devices>
    ${disks}
    <serial type='pty'><target port='0'/></serial>
    <graphics type='vnc' port='-1' autoport='yes' listen='127.0.0.1'/>
    <video><model type='vga'/></video>
    ${extra}
  </devices>
</domain>`;
