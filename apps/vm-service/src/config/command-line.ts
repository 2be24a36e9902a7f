import { parseArgs } from 'node:util';
import { ConfigError } from '@headgate/nest-kit';

/** The options of the command line. */
export interface CommandLine {
  readonly config?: string;
  readonly listen?: string;
  readonly dataDir?: string;
  /** The files of the certificate and of its key. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  readonly metrics: boolean;
  /** Trust every user of this machine. */
  readonly open: boolean;
  /** Let users log in with accounts of this service. */
  readonly login: boolean;
  /** Serve this machine's libvirt. */
  readonly local: boolean;
  /** Serve a simulated cluster with this number of instances. */
  readonly sandbox?: number;
  /** Path of the disk image that was built on this machine. */
  readonly tinyGuest?: string;
  /** Folder of the guest that reads the files of disks. */
  readonly readerGuest?: string;
  /** Path of the socket of Incus or LXD on this machine, whose containers `local` serves as well. */
  readonly containers?: string;
  /** How guests on this machine run, when that is already known. */
  readonly accelerator?: 'kvm' | 'tcg';
  readonly help: boolean;
}

export const USAGE = `headgate vm-service: virtual machines and containers on Kubernetes and on this machine

  --config FILE         configuration (YAML)
  --listen HOST:PORT    where to listen; default 127.0.0.1:8006
  --tls-cert FILE       serve HTTPS with this certificate (PEM)
  --tls-key FILE        the key of that certificate (PEM)
  --data-dir DIR        directory of the registry file
  --open                let every user and program on this machine in
  --login               let users log in with accounts of this service
  --metrics             expose all series at /metrics
  --local               serve this machine's libvirt
  --sandbox[=N]         serve a simulated cluster with N instances
  --tiny-guest FILE     the disk image of the catalog entry "tiny"
  --reader-guest DIR    the guest that reads files in backups and on disks (tools/reader-guest)
  --containers SOCKET   with --local, also serve the Incus or LXD of this socket
  --accelerator kvm|tcg how guests on this machine run; detected by default
  --help                this text

Without --config, --local and --sandbox it looks for a cluster (kubeconfig), then for libvirt on this machine, and otherwise
serves a simulated cluster.
`;

/** @throws ConfigError */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  // `--sandbox` may have a value or not, which parseArgs can't express.
  const args = argv.map((arg) => (arg === '--sandbox' ? '--sandbox=40' : arg));
  const { values } = read(args);
  const instances = values.sandbox === undefined ? undefined : Number(values.sandbox);
  if (instances !== undefined && !(Number.isInteger(instances) && instances >= 0 && instances <= 10_000)) {
    throw problem('--sandbox must be a number from 0 to 10000');
  }
  const { accelerator } = values;
  if (accelerator !== undefined && accelerator !== 'kvm' && accelerator !== 'tcg') {
    throw problem('--accelerator must be kvm or tcg');
  }
  const { 'tls-cert': certificate, 'tls-key': key } = values;
  if ((certificate === undefined) !== (key === undefined)) throw problem('--tls-cert and --tls-key need each other');
  if (values.containers !== undefined && !values.local) throw problem('--containers needs --local');
  return {
    config: values.config,
    listen: values.listen,
    dataDir: values['data-dir'],
    ...(certificate !== undefined && key !== undefined && { tls: { certificate, key } }),
    metrics: values.metrics ?? false,
    open: values.open ?? false,
    login: values.login ?? false,
    local: values.local ?? false,
    sandbox: instances,
    tinyGuest: values['tiny-guest'],
    readerGuest: values['reader-guest'],
    containers: values.containers,
    accelerator,
    help: values.help ?? false,
  };
}

function read(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        config: { type: 'string' },
        listen: { type: 'string' },
        'data-dir': { type: 'string' },
        'tls-cert': { type: 'string' },
        'tls-key': { type: 'string' },
        metrics: { type: 'boolean' },
        open: { type: 'boolean' },
        login: { type: 'boolean' },
        local: { type: 'boolean' },
        sandbox: { type: 'string' },
        'tiny-guest': { type: 'string' },
        'reader-guest': { type: 'string' },
        containers: { type: 'string' },
        accelerator: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw problem((error as Error).message.split('\n')[0] ?? '');
  }
}

const problem = (text: string): ConfigError => new ConfigError('the command line', [text]);
