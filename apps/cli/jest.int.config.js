import base from '../../jest.preset.js';

// Specs that run programs of others.
export default {
  ...base,
  displayName: 'cli, with real programs',
  testMatch: ['<rootDir>/src/**/*.int.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 240_000,
};
