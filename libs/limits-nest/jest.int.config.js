import base from '../../jest.preset.js';

// Specs that pack libraries and install them in a project of their own.
export default {
  ...base,
  displayName: 'limits-nest, packed',
  testMatch: ['<rootDir>/**/*.int.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 300_000,
  globalSetup: '<rootDir>/src/testing/packed-libraries.mjs',
};
