export * from './kubevirt-simulation.js';
export type { ProgramChooser, SimulatedProgram } from './pods/program.js';
export type { ContainerSeed } from './seeds/seed-container.js';
export { FOLDER_LABEL, fleetName, fleetNamespace, type FleetSeedOptions } from './seeds/seed-fleet.js';
export { CONTROL_PLANE } from './seeds/company-nodes.js';
export { seededNumber, seededUid } from './seeds/seeded-values.js';
export type { KubevirtVersion } from './kubevirt-version.js';
export type { VmSeed } from './seeds/vm-seed.js';
export { CLIENT_HEADERS } from './compare/client-headers.js';
