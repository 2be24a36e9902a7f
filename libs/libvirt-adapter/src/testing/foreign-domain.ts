export interface ForeignDomain {
  readonly name: string;
  readonly uuid?: string;
  readonly metadata?: string;
  /** Elements of the disks. */
  readonly disks?: string;
  readonly log?: string;
}

/** A domain as somebody else might have defined it: an old-fashioned machine, VNC on TCP, a pty. */
export const foreignDomainXml = ({ name, uuid, metadata = '', disks = '', log }: ForeignDomain): string => `
<domain type='qemu'>
  <name>${name}</name>
  ${uuid === undefined ? '' : `<uuid>${uuid}</uuid>`}
  <metadata>${metadata}</metadata>
  <memory unit='MiB'>128</memory>
  <vcpu>1</vcpu>
  <os><type arch='x86_64' machine='pc'>hvm</type><bios useserial='yes'/></os>
  <features><acpi/></features>
  <devices>
    ${disks}
    <interface type='user'><model type='virtio'/></interface>
    <serial type='pty'>${log === undefined ? '' : `<log file='${log}' append='on'/>`}<target port='0'/></serial>
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
    <graphics type='vnc' port='-1' autoport='yes' listen='127.0.0.1'/>
    <video><model type='vga'/></video>
  </devices>
</domain>`;

export const fileDisk = (path: string, format = 'qcow2', target = 'vda'): string =>
  `<disk type='file' device='disk'><driver name='qemu' type='${format}'/><source file='${path}'/><target dev='${target}' bus='virtio'/></disk>`;
