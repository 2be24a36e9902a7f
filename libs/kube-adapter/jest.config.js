export default {
  displayName: 'kube-adapter',
  preset: '../../jest.preset.js',
  // In groups on a busy machine, suites with real API servers and large disks reached their time limits.
  runner: 'jest-runner',
};
