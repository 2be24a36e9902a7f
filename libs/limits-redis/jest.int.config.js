import base from '../../jest.preset.js';

// Specs that start a real redis-server.
export default {
  ...base,
  displayName: 'limits-redis, real server',
  testMatch: ['<rootDir>/**/*.int.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
