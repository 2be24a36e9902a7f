/** How to reach a libvirt, and the name under which it is opened there. */
export interface LibvirtTarget {
  /** The URI that the daemon opens, without the parts that describe the way to it. */
  readonly name: string;
  /** Whether the daemon belongs to one user, and is started on demand by libvirt's own client. */
  readonly isSession: boolean;
  readonly transport: UnixTarget | SshTarget | TlsTarget;
}

export interface UnixTarget {
  readonly kind: 'unix';
  /** Paths of sockets in order of preference. The first one that exists is used. */
  readonly sockets: readonly string[];
  /** The daemon of a session is started if it is not running: the programs in order of preference. */
  readonly daemons?: readonly string[];
}

export interface SshTarget {
  readonly kind: 'ssh';
  readonly host: string;
  readonly port?: string;
  readonly user?: string;
  readonly keyFile?: string;
  readonly skipHostKeyCheck: boolean;
  /** The program that connects to the socket on the other machine; `auto` prefers virt-ssh-helper. */
  readonly proxy: 'auto' | 'virt-ssh-helper' | 'netcat';
  readonly netcat: string;
  readonly socket: string;
}

export interface TlsTarget {
  readonly kind: 'tls';
  readonly host: string;
  readonly port: number;
  /** The folder with the certificates, instead of the usual ones. */
  readonly pkiPath?: string;
  readonly skipCertificateCheck: boolean;
}
