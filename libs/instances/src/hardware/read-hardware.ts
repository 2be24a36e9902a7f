import type { BackendDirectory, Hardware, InstanceDirectory, InstanceQuery } from '@headgate/domain-contracts';

/** Reads the virtual hardware of a VM. */
export class ReadHardware {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
  ) {}

  async read(query: InstanceQuery): Promise<Hardware> {
    const { ref } = this.directory.resolve(query);
    return this.backends.get(ref.context).require('hardware').read(ref);
  }
}
