export * from './kubevirt-simulation.js';
export type { ProgramChooser, SimulatedProgram } from './pods/program.js';
export type { ContainerSeed } from './seeds/seed-container.js';
export { fleetName, fleetNamespace, type FleetSeedOptions } from './seeds/seed-fleet.js';
export type { VmSeed } from './seeds/vm-seed.js';
export { CLIENT_HEADERS } from './compare/client-headers.js';
