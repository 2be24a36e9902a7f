import { DomainError, type InstanceRef } from '@headgate/domain-contracts';
import type { DomainId } from '../connection/domain-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { isHelperDomain } from './proof-names.js';
import { instanceNameOf, LOCAL_NAMESPACE } from './instance-name.js';

export type { DomainId };

/** Resolves refs to domains. */
export class DomainFinder {
  constructor(
    private readonly context: string,
    private readonly connection: LibvirtConnection,
  ) {}

  /** Without the guests of proofs of backups, which are no VMs of users. */
  async all(): Promise<DomainId[]> {
    return (await this.connection.domains.list()).filter((one) => !isHelperDomain(one));
  }

  /** @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE */
  async find(ref: InstanceRef): Promise<DomainId> {
    const domain = this.isInContext(ref) ? await this.lookUp(ref.name) : undefined;
    if (domain) return domain;
    throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${ref.namespace}/${ref.name} in ${this.context}.`);
  }

  refOf({ name, uuid }: DomainId): InstanceRef & { readonly kind: 'vm' } {
    return { kind: 'vm', context: this.context, namespace: LOCAL_NAMESPACE, name: instanceNameOf(name, uuid) };
  }

  /** Most domains have the name of their instance. */
  private async lookUp(instanceName: string): Promise<DomainId | undefined> {
    const named = await this.connection.domains.lookUp(instanceName);
    return (
      (named && !isHelperDomain(named) ? named : undefined) ??
      (await this.all()).find(({ name, uuid }) => instanceNameOf(name, uuid) === instanceName)
    );
  }

  private isInContext({ kind, context, namespace }: InstanceRef): boolean {
    return kind === 'vm' && context === this.context && namespace === LOCAL_NAMESPACE;
  }
}
