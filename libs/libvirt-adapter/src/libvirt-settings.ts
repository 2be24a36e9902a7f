import { IsIn, IsOptional, Matches } from 'class-validator';

/** The settings of a host in the configuration of the service. */
export class LibvirtSettings {
  /** The URI of the connection, such as qemu+ssh://root@host/system. */
  @IsOptional()
  @Matches(/^[a-z]+(\+[a-z]+)?:\/\/\S*$/, { message: '$property must be a libvirt URI such as qemu:///system' })
  uri?: string;
  /** The host name or address at which other hosts reach this one for migrations, and where its QEMU accepts them. */
  @IsOptional()
  @Matches(/^[A-Za-z0-9][A-Za-z0-9.:-]*$/, { message: '$property must be a host name or an address' })
  migrationAddress?: string;
  /**
   * How running VMs come from and go to other machines: `tls`, or `insecure` on a network that everyone is trusted on.
   * By default they don't.
   */
  @IsOptional()
  @IsIn(['tls', 'insecure'])
  migrationTransport?: 'tls' | 'insecure';
}
