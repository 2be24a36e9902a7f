import { NetworkOperations } from '../connection/network-operations.js';
import type { Virsh } from './virsh.js';

export class VirshNetworks extends NetworkOperations {
  constructor(private readonly virsh: Virsh) {
    super();
  }

  override async list(state: 'active' | 'inactive'): Promise<string[]> {
    const names = await this.virsh.run(['net-list', '--name', ...(state === 'inactive' ? ['--inactive'] : [])]);
    return namesOf(names);
  }

  override xml(name: string): Promise<string> {
    return this.virsh.run(['net-dumpxml', name]);
  }

  override async define(xml: string): Promise<void> {
    await this.virsh.withXml(xml, (file) => ['net-define', file]);
  }

  override async undefine(name: string): Promise<void> {
    await this.virsh.run(['net-undefine', name]);
  }

  override async start(name: string): Promise<void> {
    await this.virsh.run(['net-start', name]);
  }

  override async enableAutostart(name: string): Promise<void> {
    await this.virsh.run(['net-autostart', name]);
  }
}

/** Parses a list with a name on each line. */
export const namesOf = (output: string): string[] =>
  output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
