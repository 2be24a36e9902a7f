export default {
  displayName: 'kube-adapter',
  preset: '../../jest.preset.js',
  // Real API servers and large disks are measured against the clock.
  runner: 'jest-runner',
  testTimeout: 30_000,
};
