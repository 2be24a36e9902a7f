import { parseArgs } from 'node:util';
import { ConfigError } from '@headgate/nest-kit';

/** What the service was started with. */
export interface CommandLine {
  readonly config?: string;
  readonly listen?: string;
  readonly dataDir?: string;
  readonly metrics: boolean;
  /** This machine's libvirt. */
  readonly local: boolean;
  /** A simulated cluster with so many instances. */
  readonly sandbox?: number;
  /** The tiny guest's disk image, where one was built. */
  readonly tinyGuest?: string;
  /** How guests on this machine are run, where that was found out already. */
  readonly accelerator?: 'kvm' | 'tcg';
  readonly help: boolean;
}

export const USAGE = `headgate vm-service: virtual machines and containers on Kubernetes and on this machine

  --config FILE         configuration (YAML)
  --listen HOST:PORT    where to listen; default 127.0.0.1:8006
  --data-dir DIR        where the registry file lives
  --metrics             tell everything at /metrics
  --local               serve this machine's libvirt
  --sandbox[=N]         serve a simulated cluster with N instances
  --tiny-guest FILE     the disk image of the catalog entry "tiny"
  --accelerator kvm|tcg how guests on this machine are run; default: found out by trying
  --help                this text

With none of --config, --local and --sandbox it looks for a cluster (kubeconfig), then for libvirt on this machine, and
takes a simulated cluster where it finds neither.
`;

/** @throws ConfigError */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  // `--sandbox` may stand alone or carry a number, which parseArgs can't say.
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
  return {
    config: values.config,
    listen: values.listen,
    dataDir: values['data-dir'],
    metrics: values.metrics ?? false,
    local: values.local ?? false,
    sandbox: instances,
    tinyGuest: values['tiny-guest'],
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
        metrics: { type: 'boolean' },
        local: { type: 'boolean' },
        sandbox: { type: 'string' },
        'tiny-guest': { type: 'string' },
        accelerator: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw problem((error as Error).message.split('\n')[0] ?? '');
  }
}

const problem = (text: string): ConfigError => new ConfigError('the command line', [text]);
