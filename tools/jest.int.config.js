import base from '../jest.preset.js';

// Specs that start real guests.
export default {
  ...base,
  displayName: 'tools, real guests',
  testMatch: ['<rootDir>/**/*.int.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 240_000,
};
