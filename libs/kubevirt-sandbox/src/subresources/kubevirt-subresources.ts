import type { GuestRegistry } from '../controllers/instance/guest-registry.js';
import type { InstanceController } from '../controllers/instance/instance-controller.js';
import type { SimulationContext } from '../simulation-context.js';
import { ConsoleSessions } from './console-sessions.js';
import { GuestPortSessions } from './guest-port-sessions.js';
import { registerGroupEndpoints } from './group-endpoints.js';
import { InstanceSubresources } from './instance-subresources.js';
import { registerMachineSubresources } from './machine-subresources.js';
import { SUBRESOURCES } from './subresource-support.js';

/** All subresources under `subresources.kubevirt.io`. */
export function registerKubevirtSubresources(
  context: SimulationContext,
  instances: InstanceController,
  guests: GuestRegistry,
): void {
  context.subresources.serveGroup(SUBRESOURCES, ['v1', 'v1alpha3']);
  registerGroupEndpoints(context);
  registerMachineSubresources(context);
  new InstanceSubresources(context, instances, guests).register();
  const consoles = new ConsoleSessions(context, guests);
  consoles.register();
  consoles.watch();
  const ports = new GuestPortSessions(context);
  ports.register();
  ports.watch();
}
