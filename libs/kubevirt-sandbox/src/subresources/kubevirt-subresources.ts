import type { GuestRegistry } from '../controllers/instance/guest-registry.js';
import type { InstanceController } from '../controllers/instance/instance-controller.js';
import type { World } from '../world.js';
import { ConsoleSessions } from './console-sessions.js';
import { InstanceSubresources } from './instance-subresources.js';
import { registerMachineSubresources } from './machine-subresources.js';
import { SUBRESOURCES } from './subresource-support.js';

/** Everything under `subresources.kubevirt.io`. */
export function registerKubevirtSubresources(world: World, instances: InstanceController, guests: GuestRegistry): void {
  world.subresources.serveGroup(SUBRESOURCES, ['v1', 'v1alpha3']);
  registerMachineSubresources(world);
  new InstanceSubresources(world, instances, guests).register();
  const consoles = new ConsoleSessions(world, guests);
  consoles.register();
  consoles.watch();
}
