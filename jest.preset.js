// SWC options are inline because @swc/jest looks for .swcrc in the working directory only, and Nx runs jest in the
// project's folder. NODE_OPTIONS=--experimental-vm-modules (set in nx.json) is needed: Nest and the Kubernetes client
// are ES modules only.
import { join } from 'node:path';

const swc = {
  swcrc: false,
  module: { type: 'es6' },
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript', decorators: true, tsx: false },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: true },
    keepClassNames: true,
    experimental: { keepImportAttributes: true },
  },
};

export default {
  runner: join(import.meta.dirname, 'tools/test/groups/runner.js'),
  testEnvironment: join(import.meta.dirname, 'tools/test/timers/node-environment.js'),
  setupFilesAfterEnv: [join(import.meta.dirname, 'tools/test/equal-bytes.js')],
  // Nor does it mean that a worker has left something open: the default of 500 ms is too short to exit there.
  workerGracefulExitTimeout: 10_000,
  testMatch: ['<rootDir>/**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '\\.(int|stress)\\.spec\\.ts$'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  // The summary is an output of the target, so a run that Nx takes from its cache still counts.
  reporters: ['default', join(import.meta.dirname, 'tools/test/jest-summary.js')],
};
