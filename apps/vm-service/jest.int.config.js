import preset from '../../jest.preset.js';

export default {
  ...preset,
  displayName: 'vm-service, integration',
  testMatch: ['<rootDir>/src/**/*.int.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
};
