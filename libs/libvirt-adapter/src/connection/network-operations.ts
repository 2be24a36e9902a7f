export abstract class NetworkOperations {
  /** Names of networks. */
  abstract list(state: 'active' | 'inactive'): Promise<string[]>;
  /** https://libvirt.org/formatnetwork.html */
  abstract xml(name: string): Promise<string>;
  abstract define(xml: string): Promise<void>;
  abstract undefine(name: string): Promise<void>;
  abstract start(name: string): Promise<void>;
  abstract enableAutostart(name: string): Promise<void>;
}
