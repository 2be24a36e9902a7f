import base from '../../jest.preset.js';

export default {
  ...base,
  displayName: 'libraries-e2e',
  // The specs below `foreign` belong to the foreign project.
  testMatch: ['<rootDir>/src/**/*.spec.ts'],
  // Packing and installing take a minute, and several on a busy machine.
  testTimeout: 900_000,
};
