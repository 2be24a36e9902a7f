export default { displayName: 'tools', preset: '../jest.preset.js', runner: 'jest-runner' };
