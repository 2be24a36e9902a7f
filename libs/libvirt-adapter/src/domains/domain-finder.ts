import { DomainError, type InstanceRef } from '@headgate/domain-contracts';
import type { Virsh } from '../virsh/virsh.js';
import { instanceNameOf, LOCAL_NAMESPACE } from './instance-name.js';

export interface DomainId {
  readonly uuid: string;
  /** Its name in libvirt. */
  readonly name: string;
}

/** Resolves refs to domains. */
export class DomainFinder {
  constructor(
    private readonly context: string,
    private readonly virsh: Virsh,
  ) {}

  async all(): Promise<DomainId[]> {
    return parseDomainList(await this.virsh.run(LIST_DOMAINS));
  }

  /** @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE */
  async find(ref: InstanceRef): Promise<DomainId> {
    const domain =
      this.isInContext(ref) && (await this.all()).find(({ name, uuid }) => instanceNameOf(name, uuid) === ref.name);
    if (domain) return domain;
    throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${ref.namespace}/${ref.name} in ${this.context}.`);
  }

  refOf({ name, uuid }: DomainId): InstanceRef & { readonly kind: 'vm' } {
    return { kind: 'vm', context: this.context, namespace: LOCAL_NAMESPACE, name: instanceNameOf(name, uuid) };
  }

  private isInContext({ kind, context, namespace }: InstanceRef): boolean {
    return kind === 'vm' && context === this.context && namespace === LOCAL_NAMESPACE;
  }
}

const LIST_DOMAINS = ['list', '--all', '--uuid', '--name'] as const;

/** Lines of `<uuid> <name>`; a name may contain spaces. */
export const parseDomainList = (output: string): DomainId[] =>
  output
    .split('\n')
    .map((line) => /^\s*([0-9a-f-]{36}) +(.*\S)\s*$/.exec(line))
    .filter((match) => match !== null)
    .map(([, uuid = '', name = '']) => ({ uuid, name }));
