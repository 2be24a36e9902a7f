export default {
  displayName: 'vm-service, stress',
  preset: '../../jest.preset.js',
  testMatch: ['<rootDir>/src/**/*.stress.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  // Other unit tests run at the same time.
  maxWorkers: 1,
};
